"""The report: one HTML file that needs no network, from the profiles of one or more journals."""
