// A program outside the tree: it sees the library only by the way it was found.
#include <cstdio>

#include "mallard/core/align.hpp"
#include "mallard/core/version.hpp"

int main() {
  std::printf("mallard %d.%d.%d aligns 13 to %zu\n", MALLARD_VERSION_MAJOR, MALLARD_VERSION_MINOR,
              MALLARD_VERSION_PATCH, mallard::align_up(13, 8));
}
