// The one place that holds the version; CMake and the Python package read it from here.
#pragma once

#define MALLARD_VERSION_MAJOR 0
#define MALLARD_VERSION_MINOR 1
#define MALLARD_VERSION_PATCH 0
