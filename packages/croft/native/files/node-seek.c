#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "node-api.h"

enum { HANDLE, OFFSET, WANTS_HOLE, ARGUMENTS };

/* Moves the offset of the descriptor, so it is only for our own descriptors that are read at explicit offsets. */
napi_value call_seek(napi_env env, napi_callback_info info) {
  size_t count = ARGUMENTS;
  napi_value given[ARGUMENTS], value;
  int handle;
  int64_t offset;
  bool wants_hole;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) != napi_ok ||
      napi_get_value_int32(env, given[HANDLE], &handle) != napi_ok ||
      napi_get_value_int64(env, given[OFFSET], &offset) != napi_ok ||
      napi_get_value_bool(env, given[WANTS_HOLE], &wants_hole) != napi_ok)
    return refuse(env, "seek was called with something else than it takes");
  const off_t found = lseek(handle, offset, wants_hole ? SEEK_HOLE : SEEK_DATA);
  return napi_create_int64(env, found < 0 ? -errno : found, &value) == napi_ok ? value : NULL;
}
