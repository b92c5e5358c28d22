/* Branches, waits, barriers, the end; and hints, which change nothing here. */
#include "emulator/isa/group.h"
#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {
namespace {

/* The handler of a branch that is taken where f(wave) is true. */
template <class F>
Handler branch_if(F) {
  return [](Wave& wave, const Instruction& i) {
    if (F{}(wave)) wave.next = static_cast<uint32_t>(i.target);
  };
}

void end(Wave& wave, const Instruction&) { wave.stands = true; }
void wait_at_barrier(Wave& wave, const Instruction&) { wave.is_at_barrier = wave.stands = true; }
void signal_barrier(Wave& wave, const Instruction&) { wave.group->arrive_at_barrier(wave); }
void stop_at_barrier(Wave& wave, const Instruction& i) {
  signal_barrier(wave, i);
  wait_at_barrier(wave, i);
}
void wait(Wave& wave, const Instruction& i) { wave.wait(i.wait); }
void do_nothing(Wave&, const Instruction&) {}

/* gfx12's addresses have 48 bits; the sign above them is left out. */
void get_address(Wave& wave, const Instruction& i) {
  constexpr uint64_t kAddress = (uint64_t{1} << 48) - 1;
  write_scalar_pair(wave, i.operands[0],
                    wave.architecture->generation >= 12 ? i.next_address & kAddress : i.next_address);
}

}  // namespace

void add_control(Table& t) {
  const auto branch = [&](const char* name, Handler run) { t.add(name, run, Form::kBranch); };
  branch("s_branch", branch_if([](const Wave&) { return true; }));
  branch("s_cbranch_scc0", branch_if([](const Wave& wave) { return !wave.scc; }));
  branch("s_cbranch_scc1", branch_if([](const Wave& wave) { return wave.scc; }));
  branch("s_cbranch_execz", branch_if([](const Wave& wave) { return wave.exec() == 0; }));
  branch("s_cbranch_execnz", branch_if([](const Wave& wave) { return wave.exec() != 0; }));
  branch("s_cbranch_vccz", branch_if([](const Wave& wave) { return wave.mask(kVcc) == 0; }));
  branch("s_cbranch_vccnz", branch_if([](const Wave& wave) { return wave.mask(kVcc) != 0; }));
  t.add("s_getpc_b64", get_address);
  t.add("s_endpgm", end, Form::kHint);
  t.add("s_barrier", stop_at_barrier, Form::kHint);
  t.add("s_barrier_signal", signal_barrier, Form::kHint);
  t.add("s_barrier_wait", wait_at_barrier, Form::kHint);
  t.add({"s_waitcnt", "s_waitcnt_vscnt", "s_wait_loadcnt", "s_wait_dscnt", "s_wait_kmcnt", "s_wait_storecnt",
         "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt"},
        wait, Form::kWait);
  t.add({"s_nop",           "v_nop",       "s_clause",         "s_delay_alu",   "s_set_inst_prefetch_distance",
         "s_inst_prefetch", "s_sendmsg",   "s_sleep",          "s_setprio",     "s_waitcnt_depctr",
         "s_wait_alu",      "s_wait_idle", "s_wait_samplecnt", "s_wait_bvhcnt", "buffer_gl0_inv",
         "buffer_gl1_inv",  "buffer_inv",  "buffer_wbinvl1",   "buffer_wbl2",   "global_inv",
         "global_wb",       "s_icache_inv"},
        do_nothing, Form::kHint);
}

}  // namespace vmafx::emulator::isa
