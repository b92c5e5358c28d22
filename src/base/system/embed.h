/* Files in the library, as the assembler puts them there. */
#ifndef VMAFX_BASE_SYSTEM_EMBED_H
#define VMAFX_BASE_SYSTEM_EMBED_H

#include <cstddef>

/* Assembler's words: the section of constants, and the mark that keeps a symbol inside the library. A DLL exports no
 * symbol unasked. */
#if defined(__ELF__)
#define VMAFX_EMBED_BEGIN ".pushsection .rodata\n"
#define VMAFX_EMBED_HIDE(name) ".hidden " name "\n"
#define VMAFX_EMBED_END ".popsection\n"
#else
#define VMAFX_EMBED_BEGIN ".section .rdata,\"dr\"\n"
#define VMAFX_EMBED_HIDE(name)
#define VMAFX_EMBED_END ".text\n"
#endif

/* Declares the bytes of a file as `symbol`, up to `symbol`_end, where a zero follows. */
#define VMAFX_EMBED(symbol, path)                                         \
  asm(VMAFX_EMBED_BEGIN                                                   \
      ".balign 4096\n"                                                    \
      ".globl " #symbol "\n" VMAFX_EMBED_HIDE(#symbol) #symbol            \
      ":\n"                                                               \
      ".incbin \"" path                                                   \
      "\"\n"                                                              \
      ".globl " #symbol "_end\n" VMAFX_EMBED_HIDE(#symbol "_end") #symbol \
      "_end:\n"                                                           \
      ".byte 0\n" VMAFX_EMBED_END);                                       \
  extern "C" [[gnu::visibility("hidden")]] const std::byte symbol[], symbol##_end[];

#endif
