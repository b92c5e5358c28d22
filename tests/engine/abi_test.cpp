/* The binary interface against its record, abi.txt: what libvmafx.so exports, its options, and the fields of its
 * structs. `ABI_RECORD=1 tests/engine/abi_test` writes the record anew; what may change there, vmafx.h says. */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/status.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"
#include "vmafx/vmafx.h"

using vmafx::format_text;
using namespace vmafx::test;

namespace {

const char* const kRecord = TOP_SRCDIR "/tests/engine/abi.txt";

/* The record's first lines. */
constexpr const char kHead[] =
    "# The interface VMAFX_0, as tests/engine/abi_test sees it. From the release of 0.1.0 on, lines are only added,\n"
    "# except that new fields take the first words of `reserved`: see \"Compatibility\" in vmafx.h.\n";

struct Field {
  const char* name;
  size_t offset, size, alignment;
};

/* One struct. Fields follow each other with no more between them than alignment asks for, so that none is left out
 * here. The room for later ones comes last. */
std::string describe(const char* name, size_t size, size_t alignment, std::initializer_list<Field> fields) {
  const auto aligned = [](size_t at, size_t to) { return (at + to - 1) / to * to; };
  std::string text = format_text("struct %s %zu\n", name, size);
  size_t end = 0;
  for (const Field& field : fields) {
    ck_assert_msg(field.offset == aligned(end, field.alignment), "a field before %s.%s is missing here", name,
                  field.name);
    text += format_text("  %s %zu %zu\n", field.name, field.offset, field.size);
    end = field.offset + field.size;
  }
  ck_assert_msg(size == aligned(end, alignment), "the last field of %s is missing here", name);
  assert_text_eq(std::prev(fields.end())->name, "reserved");
  return text;
}

#define FIELD(field) {#field, offsetof(Struct, field), sizeof(Struct::field), alignof(decltype(Struct::field))}
#define VALUE(name) format_text("value %s %d\n", #name, static_cast<int>(name))

std::string structs() {
  std::string text;
  {
    using Struct = VmafxOption;
    text += describe("VmafxOption", sizeof(Struct), alignof(Struct),
                     {FIELD(name), FIELD(type), FIELD(default_text), FIELD(default_number), FIELD(least), FIELD(most),
                      FIELD(help), FIELD(in_filter), FIELD(reserved)});
  }
  {
    using Struct = VmafxKeptReferenceParams;
    text += describe("VmafxKeptReferenceParams", sizeof(Struct), alignof(Struct),
                     {FIELD(budget), FIELD(planes), FIELD(copy), FIELD(log), FIELD(log_cookie), FIELD(device_budget),
                      FIELD(reserved)});
  }
  {
    using Struct = VmafxColor;
    text += describe(
        "VmafxColor", sizeof(Struct), alignof(Struct),
        {FIELD(matrix), FIELD(range), FIELD(transfer), FIELD(primaries), FIELD(chroma_location), FIELD(reserved)});
  }
  {
    using Struct = VmafxFormat;
    text +=
        describe("VmafxFormat", sizeof(Struct), alignof(Struct),
                 {FIELD(width), FIELD(height), FIELD(chroma), FIELD(bits), FIELD(layout), FIELD(shift), FIELD(memory),
                  FIELD(device_context), FIELD(drm_fd), FIELD(color), FIELD(name), FIELD(fps), FIELD(spare_pictures),
                  FIELD(whole_chroma), FIELD(pci_address), FIELD(device_uuid), FIELD(reserved)});
  }
  {
    using Struct = VmafxObject;
    text += describe("VmafxObject", sizeof(Struct), alignof(Struct),
                     {FIELD(fd), FIELD(size), FIELD(modifier), FIELD(id), FIELD(reserved)});
  }
  {
    using Struct = VmafxSemaphore;
    text += describe("VmafxSemaphore", sizeof(Struct), alignof(Struct),
                     {FIELD(fd), FIELD(id), FIELD(value), FIELD(reserved)});
  }
  {
    using Struct = VmafxPicture;
    text += describe("VmafxPicture", sizeof(Struct), alignof(Struct),
                     {FIELD(data), FIELD(stride), FIELD(has_time), FIELD(time), FIELD(keyframe), FIELD(release),
                      FIELD(opaque), FIELD(download), FIELD(stream), FIELD(n_objects), FIELD(object),
                      FIELD(plane_object), FIELD(plane_offset), FIELD(wait), FIELD(semaphore), FIELD(reserved)});
  }
  {
    using Struct = VmafxScore;
    text += describe("VmafxScore", sizeof(Struct), alignof(Struct), {FIELD(key), FIELD(value), FIELD(reserved)});
  }
  {
    using Struct = VmafxFrameResult;
    text += describe("VmafxFrameResult", sizeof(Struct), alignof(Struct),
                     {FIELD(frame), FIELD(n_scores), FIELD(scores), FIELD(encode), FIELD(window), FIELD(n_sure),
                      FIELD(sure), FIELD(n_maps), FIELD(maps), FIELD(reserved)});
  }
  {
    using Struct = VmafxMap;
    text += describe("VmafxMap", sizeof(Struct), alignof(Struct),
                     {FIELD(name), FIELD(unit), FIELD(width), FIELD(height), FIELD(block_width), FIELD(block_height),
                      FIELD(values), FIELD(reserved)});
  }
  {
    using Struct = VmafxBreak;
    text += describe("VmafxBreak", sizeof(Struct), alignof(Struct), {FIELD(pair), FIELD(size), FIELD(reserved)});
  }
  {
    using Struct = VmafxPairFit;
    text += describe("VmafxPairFit", sizeof(Struct), alignof(Struct),
                     {FIELD(pair), FIELD(gain), FIELD(offset), FIELD(left), FIELD(reserved)});
  }
  {
    using Struct = VmafxReportStream;
    text += describe("VmafxReportStream", sizeof(Struct), alignof(Struct),
                     {FIELD(pictures), FIELD(pairing), FIELD(window), FIELD(pool), FIELD(facts), FIELD(n_facts),
                      FIELD(findings), FIELD(n_findings), FIELD(parts), FIELD(n_parts), FIELD(breaks), FIELD(n_breaks),
                      FIELD(ends), FIELD(n_ends), FIELD(brief), FIELD(n_brief), FIELD(reserved)});
  }
  {
    using Struct = VmafxReport;
    text += describe("VmafxReport", sizeof(Struct), alignof(Struct),
                     {FIELD(path), FIELD(format), FIELD(score_fmt), FIELD(width), FIELD(height), FIELD(n_subsample),
                      FIELD(fps), FIELD(n_frames), FIELD(frames), FIELD(n_aggregates), FIELD(aggregates), FIELD(log),
                      FIELD(log_cookie), FIELD(stream), FIELD(overwrite), FIELD(reserved)});
  }
  {
    using Struct = VmafxPoolWindow;
    text += describe("VmafxPoolWindow", sizeof(Struct), alignof(Struct),
                     {FIELD(number), FIELD(first_frame), FIELD(last_frame), FIELD(has_time), FIELD(time),
                      FIELD(n_scores), FIELD(scores), FIELD(reserved)});
  }
  {
    using Struct = VmafxPairing;
    text +=
        describe("VmafxPairing", sizeof(Struct), alignof(Struct),
                 {FIELD(paired), FIELD(unmatched_distorted), FIELD(unmatched_reference), FIELD(repeated_reference),
                  FIELD(repeated_distorted), FIELD(max_time_difference), FIELD(cut_short), FIELD(encode),
                  FIELD(corrupt_distorted), FIELD(corrupt_reference), FIELD(doubts), FIELD(n_doubts), FIELD(reserved)});
  }
  {
    using Struct = VmafxDoubt;
    text += describe("VmafxDoubt", sizeof(Struct), alignof(Struct),
                     {FIELD(kind), FIELD(from), FIELD(end), FIELD(frame_duration), FIELD(remedies), FIELD(n_remedies),
                      FIELD(reserved)});
  }
  {
    using Struct = VmafxStreamSums;
    text += describe("VmafxStreamSums", sizeof(Struct), alignof(Struct),
                     {FIELD(metric), FIELD(plane), FIELD(frames), FIELD(samples), FIELD(peak), FIELD(whole),
                      FIELD(fraction), FIELD(reserved)});
  }
  {
    using Struct = VmafxEvidence;
    text += describe("VmafxEvidence", sizeof(Struct), alignof(Struct), {FIELD(name), FIELD(value), FIELD(reserved)});
  }
  {
    using Struct = VmafxFinding;
    text += describe("VmafxFinding", sizeof(Struct), alignof(Struct),
                     {FIELD(kind), FIELD(name), FIELD(certainty), FIELD(from), FIELD(end), FIELD(evidence),
                      FIELD(n_evidence), FIELD(text), FIELD(remedies), FIELD(n_remedies), FIELD(reserved)});
  }
  {
    using Struct = VmafxScoreFacts;
    text +=
        describe("VmafxScoreFacts", sizeof(Struct), alignof(Struct),
                 {FIELD(key), FIELD(metric), FIELD(worse), FIELD(main), FIELD(alone), FIELD(unit), FIELD(reserved)});
  }
  return text;
}

std::string values() {
  return VALUE(VMAFX_LOG_ERROR) + VALUE(VMAFX_LOG_WARNING) + VALUE(VMAFX_LOG_INFO) + VALUE(VMAFX_LOG_VERBOSE) +
         VALUE(VMAFX_LOG_DEBUG) + VALUE(VMAFX_PLATFORM_NONE) + VALUE(VMAFX_PLATFORM_HIP) + VALUE(VMAFX_PLATFORM_CUDA) +
         VALUE(VMAFX_CHROMA_400) + VALUE(VMAFX_CHROMA_420) + VALUE(VMAFX_CHROMA_422) + VALUE(VMAFX_CHROMA_444) +
         VALUE(VMAFX_LAYOUT_PLANAR) + VALUE(VMAFX_LAYOUT_SEMIPLANAR) + VALUE(VMAFX_MEMORY_HOST) +
         VALUE(VMAFX_MEMORY_PINNED) + VALUE(VMAFX_MEMORY_DEVICE) + VALUE(VMAFX_MEMORY_DMABUF) +
         VALUE(VMAFX_MEMORY_OPAQUE) + VALUE(VMAFX_OPTION_TEXT) + VALUE(VMAFX_OPTION_INT) + VALUE(VMAFX_OPTION_FLAG) +
         VALUE(VMAFX_DOUBT_UNMATCHED_DISTORTED) + VALUE(VMAFX_DOUBT_UNMATCHED_REFERENCE) +
         VALUE(VMAFX_DOUBT_REPEATED_REFERENCE) + VALUE(VMAFX_DOUBT_REPEATED_DISTORTED) +
         VALUE(VMAFX_DOUBT_TIME_DIFFERENCE) + VALUE(VMAFX_DOUBT_CORRUPT_DISTORTED) +
         VALUE(VMAFX_DOUBT_CORRUPT_REFERENCE) + VALUE(VMAFX_WORSE_LOW) + VALUE(VMAFX_WORSE_HIGH) +
         VALUE(VMAFX_WORSE_NEITHER) + VALUE(VMAFX_FINDING_OFFSET) + VALUE(VMAFX_FINDING_DROPPED) +
         VALUE(VMAFX_FINDING_DOUBLED) + VALUE(VMAFX_FINDING_FROZEN) + VALUE(VMAFX_FINDING_CADENCE) +
         VALUE(VMAFX_FINDING_BLENDED) + VALUE(VMAFX_FINDING_SWAPPED) + VALUE(VMAFX_FINDING_OTHER_PICTURES) +
         VALUE(VMAFX_FINDING_MIRRORED) + VALUE(VMAFX_FINDING_FLIPPED) + VALUE(VMAFX_FINDING_ROTATED) +
         VALUE(VMAFX_FINDING_CROPPED) + VALUE(VMAFX_FINDING_PADDED) + VALUE(VMAFX_FINDING_SCALED) +
         VALUE(VMAFX_FINDING_SHIFTED) + VALUE(VMAFX_FINDING_BARS) + VALUE(VMAFX_FINDING_RANGE) +
         VALUE(VMAFX_FINDING_MATRIX) + VALUE(VMAFX_FINDING_PRIMARIES) + VALUE(VMAFX_FINDING_TRANSFER) +
         VALUE(VMAFX_FINDING_BRIGHTNESS) + VALUE(VMAFX_FINDING_CHROMA_SWAPPED) + VALUE(VMAFX_FINDING_CHROMA_SHIFTED) +
         VALUE(VMAFX_FINDING_GRAY) + VALUE(VMAFX_FINDING_COMBED) + VALUE(VMAFX_FINDING_REFERENCE_COMBED) +
         VALUE(VMAFX_FINDING_FIELD_ORDER) + VALUE(VMAFX_FINDING_FIELDS_DROPPED) + VALUE(VMAFX_CERTAINTY_POSSIBLE) +
         VALUE(VMAFX_CERTAINTY_LIKELY) + VALUE(VMAFX_CERTAINTY_SURE);
}

/* "option window text" for each. */
std::string options() {
  constexpr const char* kTypes[] = {"text", "int", "flag"};
  std::string text;
  for (int i = 0; const VmafxOption* option = vmafx_option(i); i++)
    text += format_text("option %s %s\n", option->name, kTypes[option->type]);
  return text;
}

/* The output of a command. */
std::string output_of(const char* command) {
  std::FILE* pipe = popen(command, "r");
  ck_assert(pipe);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  ck_assert_int_eq(pclose(pipe), 0);
  return text;
}

/* "symbol vmafx_open@@VMAFX_0" for each, as the dynamic linker sees them. */
std::string symbols() {
  return output_of("LC_ALL=C nm -D --defined-only --with-symbol-versions " LIBVMAFX
                   " | awk '$2 != \"A\" {print \"symbol\", $3}' | LC_ALL=C sort");
}

}  // namespace

START_TEST(the_binary_interface_is_as_recorded) {
  const std::string now = kHead + structs() + values() + options() + symbols();
  if (std::getenv("ABI_RECORD")) std::ofstream(kRecord) << now;
  std::ostringstream recorded;
  recorded << std::ifstream(kRecord).rdbuf();
  assert_text_eq(now, recorded.str());
}
END_TEST

/* A setuid program that uses the library must not load what its caller's VMAFX_HIP_RUNTIME names. */
START_TEST(variables_are_read_where_they_may_be) {
  assert_text_eq(
      output_of("nm -D --undefined-only " LIBVMAFX " | awk '$2 ~ /getenv/ {sub(/@.*/, \"\", $2); print $2}'"),
      "secure_getenv\n");
}
END_TEST

int main() {
  return run_suite(
      "abi", {{"record", the_binary_interface_is_as_recorded}, {"variables", variables_are_read_where_they_may_be}});
}
