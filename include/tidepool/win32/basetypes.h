/* The Win32 scalar types, on Linux. Sizes and signedness are those of 64-bit Windows. */
#ifndef TIDEPOOL_WIN32_BASETYPES_H
#define TIDEPOOL_WIN32_BASETYPES_H

#ifdef _WIN32
#error "tidepool's Win32 headers are for systems without a Win32 API; on Windows include <windows.h>"
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TIDEPOOL_WIN32_EXTERN extern "C"
#define TIDEPOOL_WIN32_NOEXCEPT noexcept
#else
#define TIDEPOOL_WIN32_EXTERN extern
#define TIDEPOOL_WIN32_NOEXCEPT
#endif

/* Declares a Win32 function. The symbol underneath carries a prefix, so that the library can be linked
   beside another emulation of the same API; the source-level name is the one Microsoft documents. */
#define TIDEPOOL_WIN32_API(result, name, arguments) \
  TIDEPOOL_WIN32_EXTERN result name arguments TIDEPOOL_WIN32_NOEXCEPT __asm__("tidepool_" #name)

#define WINAPI
#define CALLBACK
#define NTAPI
#define APIENTRY
#define VOID void
#define CONST const
#ifndef TRUE
#define TRUE 1
#define FALSE 0
#endif

typedef int BOOL;
typedef BOOL *PBOOL, *LPBOOL;
typedef unsigned char BYTE, BOOLEAN, UCHAR;
typedef uint16_t WORD, USHORT;
typedef int32_t LONG, INT;
typedef LONG* PLONG;
typedef LONG* LPLONG;
typedef uint32_t DWORD, ULONG, UINT;
typedef DWORD *PDWORD, *LPDWORD;
typedef ULONG* PULONG;
typedef int64_t LONGLONG, LONG64, LONG_PTR, SSIZE_T;
typedef uint64_t ULONGLONG, DWORD64, ULONG64, ULONG_PTR, DWORD_PTR, SIZE_T;
typedef ULONG_PTR* PULONG_PTR;
typedef void *PVOID, *LPVOID;
typedef const void* LPCVOID;
typedef char CHAR;
typedef CHAR *PSTR, *LPSTR;
typedef const CHAR *PCSTR, *LPCSTR;
#ifdef __cplusplus
typedef char16_t WCHAR;
#else
typedef uint16_t WCHAR;
#endif
typedef WCHAR *PWSTR, *LPWSTR;
typedef const WCHAR *PCWSTR, *LPCWSTR;

typedef PVOID HANDLE;
typedef HANDLE* PHANDLE;
typedef HANDLE* LPHANDLE;
typedef struct HINSTANCE__* HINSTANCE;
typedef HINSTANCE HMODULE;

/* clang-format off */
#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)
/* clang-format on */
#define INFINITE 0xFFFFFFFFu

typedef union _LARGE_INTEGER {
  struct {
    DWORD LowPart;
    LONG HighPart;
  } u;
  LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

typedef union _ULARGE_INTEGER {
  struct {
    DWORD LowPart;
    DWORD HighPart;
  } u;
  ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef struct _FILETIME {
  DWORD dwLowDateTime;
  DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;

typedef struct _SECURITY_ATTRIBUTES {
  DWORD nLength;
  LPVOID lpSecurityDescriptor;
  BOOL bInheritHandle;
} SECURITY_ATTRIBUTES, *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

#endif
