#include <errno.h>
#include <limits.h>
#include <stdint.h>

#include "node-api.h"
#include "open-beneath.h"

enum { DIRECTORY, PATH, FLAGS, MODE, ARGUMENTS };

napi_value call_open(napi_env env, napi_callback_info info) {
  size_t count = ARGUMENTS;
  napi_value given[ARGUMENTS];
  char path[PATH_MAX];
  int directory, flags;
  uint32_t mode;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) != napi_ok ||
      napi_get_value_int32(env, given[DIRECTORY], &directory) != napi_ok ||
      napi_get_value_int32(env, given[FLAGS], &flags) != napi_ok || napi_get_value_uint32(env, given[MODE], &mode) != napi_ok)
    return refuse(env, "open was called with something else than it takes");
  const int wrong = take_text(env, given[PATH], path, sizeof path);
  if (wrong == EINVAL) return refuse(env, "open was called with something else than a path");
  return answer(env, wrong ? -wrong : open_beneath(directory, path, flags, mode));
}

napi_value call_reopen(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2];
  int path_fd, flags;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) != napi_ok ||
      napi_get_value_int32(env, given[0], &path_fd) != napi_ok || napi_get_value_int32(env, given[1], &flags) != napi_ok)
    return refuse(env, "reopen was called with something else than it takes");
  return answer(env, reopen_path_fd(path_fd, flags));
}
