#include "node-api.h"

static const struct {
  const char *name;
  napi_callback call;
} calls[] = {
    {"replaceDurably", call_replace_durably}, {"replaceAtOnce", call_replace_at_once}, {"moveIfFree", call_move_if_free}, {"open", call_open},
    {"reopen", call_reopen}, {"seek", call_seek},            {"lock", call_lock},               {"useLocks", call_use_locks},
    {"lockNumber", call_lock_number}, {"findNames", call_find_names},
    {"mountOverlay", call_mount_overlay}, {"unmount", call_unmount},
    {"releaseMemory", call_release_memory}};

NAPI_MODULE_INIT() {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    napi_value function;
    if (napi_create_function(env, calls[i].name, NAPI_AUTO_LENGTH, calls[i].call, NULL, &function) != napi_ok) return NULL;
    napi_set_named_property(env, exports, calls[i].name, function);
  }
  return exports;
}
