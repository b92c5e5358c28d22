/* Prints the facts of libvmaf's own headers, as abi.txt has them recorded; see facts.inc. */
#include <stddef.h>
#include <stdio.h>

#include <libvmaf/libvmaf.h>
#include <libvmaf/libvmaf_cuda.h>

#define STRUCT(type) fprintf(out, "struct " #type " %zu\n", sizeof(type));
#define FIELD(type, field) fprintf(out, "  " #field " %zu %zu\n", offsetof(type, field), sizeof((((type *)0)->field)));
#define VALUE(name) fprintf(out, "value " #name " %d\n", (int)(name));
#define FUNCTION(name, result, parameters)                                                               \
  _Static_assert(_Generic(&name, result(*) parameters : 1, default : 0), "the type of " #name " differs"); \
  fprintf(out, "function " #name "\n");

int main(void) {
  FILE *out = stdout;
#include "facts.inc"
  return 0;
}
