/* Loads the addon with the C library that this program is compiled for, every symbol at once, and lets it initialise. */
#include <dlfcn.h>
#include <stdio.h>

#define NODE(name) int name(void) { return 0; }
NODE(napi_create_async_work) NODE(napi_create_buffer_copy) NODE(napi_create_function) NODE(napi_create_int32)
NODE(napi_create_int64) NODE(napi_create_promise) NODE(napi_create_string_utf8) NODE(napi_delete_async_work)
NODE(napi_get_cb_info) NODE(napi_get_undefined) NODE(napi_get_value_bool) NODE(napi_get_value_double)
NODE(napi_get_value_int32) NODE(napi_get_value_int64) NODE(napi_get_value_string_utf8) NODE(napi_get_value_uint32)
NODE(napi_queue_async_work) NODE(napi_resolve_deferred) NODE(napi_set_named_property) NODE(napi_throw_type_error)
NODE(napi_typeof)

int main(int count, char **words)
{
	void *addon = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void *(*start)(void *, void *) = NULL;
	if (addon)
		*(void **)&start = dlsym(addon, "napi_register_module_v1");
	if (!start) {
		printf("%s\n", dlerror());
		return 1;
	}
	start(NULL, words);
	printf("loaded\n");
	return 0;
}
