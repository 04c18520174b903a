"""Pages without network: one HTML file each, of elements, styles and plain JavaScript without a build step.

frame.py makes the file, of what a page is (report/) and what pages share (page/: styles, lib/).
"""
