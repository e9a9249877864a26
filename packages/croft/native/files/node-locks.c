#include <limits.h>
#include <stdbool.h>

#include "name-locks.h"
#include "node-api.h"

static bool take_handle(napi_env env, napi_callback_info info, int *handle) {
  size_t count = 1;
  napi_value given[1];
  return napi_get_cb_info(env, info, &count, given, NULL, NULL) == napi_ok &&
         napi_get_value_int32(env, given[0], handle) == napi_ok;
}

napi_value call_lock(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2];
  char name[NAME_MAX + 1];
  int directory;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) != napi_ok ||
      napi_get_value_int32(env, given[0], &directory) != napi_ok || take_text(env, given[1], name, sizeof name) != 0)
    return refuse(env, "lock was called with something else than it takes");
  return answer(env, lock_file(directory, name));
}

napi_value call_lock_number(napi_env env, napi_callback_info info) {
  int directory;
  if (!take_handle(env, info, &directory)) return refuse(env, "lockNumber was called with something else than a handle");
  return answer(env, lock_number(directory));
}

napi_value call_use_locks(napi_env env, napi_callback_info info) {
  int directory;
  if (!take_handle(env, info, &directory)) return refuse(env, "useLocks was called with something else than a handle");
  use_locks(directory);
  return answer(env, 0);
}
