#include <errno.h>
#include <string.h>

#include "node-api.h"

int take_text(napi_env env, napi_value given, char *text, size_t capacity) {
  size_t length, taken;
  if (napi_get_value_string_utf8(env, given, NULL, 0, &length) != napi_ok || length == 0) return EINVAL;
  /* A path that is too long would be cut and lead somewhere else. */
  if (length >= capacity) return ENAMETOOLONG;
  if (napi_get_value_string_utf8(env, given, text, capacity, &taken) != napi_ok) return EINVAL;
  return strlen(text) == length ? 0 : EINVAL;
}

napi_value refuse(napi_env env, const char *why) {
  napi_throw_type_error(env, NULL, why);
  return NULL;
}

napi_value answer(napi_env env, int outcome) {
  napi_value value;
  return napi_create_int32(env, outcome, &value) == napi_ok ? value : NULL;
}
