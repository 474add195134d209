// The Win32 thread pool from C, the same on Windows and on Linux.
// prints: the callback has returned
#include <stdio.h>
#include <windows.h>

static VOID CALLBACK set_event(PTP_CALLBACK_INSTANCE instance, PVOID event) {
  SetEventWhenCallbackReturns(instance, (HANDLE)event);
}

int main(void) {
  HANDLE returned = CreateEventW(NULL, TRUE, FALSE, NULL);
  if (returned == NULL || !TrySubmitThreadpoolCallback(set_event, returned, NULL)) {
    fprintf(stderr, "error %lu\n", (unsigned long)GetLastError());
    return 1;
  }
  WaitForSingleObject(returned, INFINITE);
  puts("the callback has returned");
  CloseHandle(returned);
  return 0;
}
