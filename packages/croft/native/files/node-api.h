#ifndef CROFT_NODE_API_H
#define CROFT_NODE_API_H

#include <node_api.h>
#include <stddef.h>

/* Functions that Node calls: see `src/disk/paths/native-addon.ts`, and `src/lib/processes/release-memory.ts` for the last. */
napi_value call_replace_durably(napi_env env, napi_callback_info info);
napi_value call_replace_at_once(napi_env env, napi_callback_info info);
napi_value call_move_if_free(napi_env env, napi_callback_info info);
napi_value call_open(napi_env env, napi_callback_info info);
napi_value call_reopen(napi_env env, napi_callback_info info);
napi_value call_seek(napi_env env, napi_callback_info info);
napi_value call_lock(napi_env env, napi_callback_info info);
napi_value call_lock_number(napi_env env, napi_callback_info info);
napi_value call_use_locks(napi_env env, napi_callback_info info);
napi_value call_find_names(napi_env env, napi_callback_info info);
napi_value call_mount_overlay(napi_env env, napi_callback_info info);
napi_value call_unmount(napi_env env, napi_callback_info info);
napi_value call_release_memory(napi_env env, napi_callback_info info);

/* Reads a string that is not empty and holds no NUL. Returns 0, EINVAL for any other value, or ENAMETOOLONG if there
   are too few bytes. */
int take_text(napi_env env, napi_value given, char *text, size_t capacity);

/* The result of a call: a number, or a TypeError. */
napi_value answer(napi_env env, int outcome);
napi_value refuse(napi_env env, const char *why);

#endif
