# Installation of the headers, and the ways in for consumers: find_package and pkg-config.
