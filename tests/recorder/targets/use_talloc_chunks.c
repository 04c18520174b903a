/* talloc_chunks: chunks in chunks that are resized, moved and freed; prints "region kind count" for each.
 * A freed chunk takes those inside along, which have no end of their own. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talloc.h>

static void print(const void* chunk, const char* kind, int count) {
  printf("%lu %s %d\n", (unsigned long)(size_t)chunk, kind, count);
}

static void print_made(const void* chunk) {
  print(chunk, "region_create", 1);
  print(chunk, "region_allocate", 1);
}

static int refuse(void* chunk) {
  (void)chunk;
  return -1;
}

static char* format(void* parent, const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  char* text = talloc_vasprintf(parent, pattern, arguments);
  va_end(arguments);
  return text;
}

int main(void) {
  void* top = talloc_new(NULL);
  print_made(top);
  struct pair {
    int first, second;
  };
  print_made(talloc(top, struct pair));
  print_made(talloc_zero(top, struct pair));
  print_made(talloc_size(top, 100));
  print_made(talloc_array(top, struct pair, 3));
  print_made(talloc_zero_array(top, struct pair, 3));
  print_made(talloc_memdup(top, "four", 5));
  print_made(talloc_strdup(top, "a text"));
  print_made(talloc_strndup(top, "a longer text", 8));
  print_made(talloc_asprintf(top, "%d and %d, %s %f", 1, 2, "three", 4.0));
  print_made(format(top, "%d and %d", 5, 6));
  void* named = talloc_named(top, 50, "number %d of %s", 7, "many");
  print_made(named);
  if (strcmp(talloc_get_name(named), "number 7 of many") != 0) return 1;
  void* other = talloc_init("the %s", "other");
  print_made(other);
  if (strcmp(talloc_get_name(other), "the other") != 0) return 1;

  void* pool = talloc_pool(top, 1000);
  print(pool, "region_create", 1);
  print_made(talloc_size(pool, 10));

  /* Grown in place or to elsewhere, with a chunk inside. */
  char* grown = talloc_array(other, char, 10);
  const size_t before = (size_t)grown;
  void* inside = talloc_size(grown, 20);
  void* wall = malloc(100);
  char* moved = talloc_realloc(other, grown, char, 1000000);
  free(wall);
  print((void*)before, "region_create", 1);
  print((void*)before, "region_allocate", 1);
  print(inside, "region_create", 1);
  print(inside, "region_allocate", 1);
  if ((size_t)moved == before) {
    print(moved, "region_free", 1);
    print(moved, "region_allocate", 1);
  } else {
    print_made(moved);
    print(inside, "region_create", 1);
    print((void*)before, "region_destroy", 1);
  }
  moved = talloc_realloc(other, moved, char, 999990);
  print(moved, "region_free", 1);
  print(moved, "region_allocate", 1);

  if (talloc_steal(top, inside) != inside) return 1;
  print(inside, "region_create", 1);
  void* handed = inside;
  inside = talloc_move(other, &handed);
  print(inside, "region_create", 1);
  if (talloc_reparent(other, top, inside) != inside) return 1;
  print(inside, "region_create", 1);
  if (talloc_parent(inside) != top) return 1;

  void* firm = talloc_size(top, 1);
  print_made(firm);
  talloc_set_destructor((char*)firm, (int (*)(char*))refuse);
  if (talloc_free(firm) != -1) return 1; /* no end */
  talloc_set_destructor((char*)firm, NULL);
  if (talloc_unlink(top, firm) != 0) return 1;
  print(firm, "region_destroy", 1);

  talloc_free_children(other);
  print(other, "region_clear", 1);
  print(other, "region_allocate", 1);
  if (talloc_free(top) != 0 || talloc_free(other) != 0) return 1;
  print(top, "region_destroy", 1);
  print(other, "region_destroy", 1);
  return 0;
}
