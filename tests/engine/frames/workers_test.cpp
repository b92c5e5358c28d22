/* Workers: jobs run in their order, none while they are held, and all before the end. */
#include "engine/frames/workers.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

struct Counting : Job {
  void run(int) noexcept override { (*ran)++; }
  std::atomic<int>* ran = nullptr;
};

constexpr int kJobs = 8;

struct Jobs {
  Jobs() {
    for (Counting& job : jobs) job.ran = &ran;
  }
  void give(Workers& workers) {
    for (Counting& job : jobs) workers.add(job);
  }
  std::atomic<int> ran = 0;
  Counting jobs[kJobs];
};

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

}  // namespace

START_TEST(held_jobs_wait_and_can_be_taken_back) {
  Jobs jobs;
  Workers workers;
  ck_assert(workers.start(3).ok());
  workers.hold(true);
  jobs.give(workers);
  wait_a_little();
  ck_assert_int_eq(jobs.ran, 0);
  ck_assert(workers.has_waiting());
  Fifo<Job> taken = workers.take_waiting();
  for (int i = 0; i < kJobs; i++) ck_assert_ptr_eq(&taken.pop_front(), &jobs.jobs[i]);
  ck_assert(taken.empty() && !workers.has_waiting());
}
END_TEST

START_TEST(they_go_on_when_they_are_let_go) {
  Jobs jobs;
  Workers workers;
  ck_assert(workers.start(3).ok());
  workers.hold(true);
  jobs.give(workers);
  workers.hold(false);
  while (jobs.ran < kJobs) std::this_thread::yield();
}
END_TEST

START_TEST(held_jobs_run_before_the_end) {
  Jobs jobs;
  auto workers = std::make_unique<Workers>();
  ck_assert(workers->start(2).ok());
  workers->hold(true);
  jobs.give(*workers);
  workers.reset();
  ck_assert_int_eq(jobs.ran, kJobs);
}
END_TEST

int main() {
  return vmafx::test::run_suite("workers", {{"held", held_jobs_wait_and_can_be_taken_back},
                                            {"let_go", they_go_on_when_they_are_let_go},
                                            {"end", held_jobs_run_before_the_end}});
}
