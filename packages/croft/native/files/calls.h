#ifndef CALLS_H
#define CALLS_H

#include <node_api.h>
#include <stddef.h>

/* What Node calls: see `src/disk/addon.ts`. */
napi_value call_settle(napi_env env, napi_callback_info info);
napi_value call_settle_now(napi_env env, napi_callback_info info);
napi_value call_open(napi_env env, napi_callback_info info);
napi_value call_reopen(napi_env env, napi_callback_info info);

/* A string that is not empty and holds no NUL: zero, EINVAL for another, or ENAMETOOLONG where there is no room for it. */
int take_text(napi_env env, napi_value given, char *text, size_t room);

/* What a call gives back: a number, or a TypeError. */
napi_value answer(napi_env env, int outcome);
napi_value refuse(napi_env env, const char *why);

#endif
