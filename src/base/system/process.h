/* This process: its number, its processors, its end. */
#ifndef VMAFX_BASE_SYSTEM_PROCESS_H
#define VMAFX_BASE_SYSTEM_PROCESS_H

namespace vmafx::system {

long process_id();

/* How many threads of this process can run at once, by the processors that it may use and by its share of their time;
 * 0 if the system does not tell. */
int usable_processors();

/* The processor time that this process, or the calling thread, has taken, in seconds; 0 if the system does not tell. */
double process_seconds();
double thread_seconds();

/* True once the system has ended all other threads of the process, as Windows does before the handlers of a DLL run at
 * the end: they unlock no mutex and finish no work any more. */
bool other_threads_are_gone();

}  // namespace vmafx::system

#endif
