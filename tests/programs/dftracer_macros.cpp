/* A program annotated with DFTracer's C++ macros. */
#include <dftracer/dftracer.h>

static void work(int n)
{
	DFTRACER_CPP_FUNCTION();
	DFTRACER_CPP_FUNCTION_UPDATE("comp", "io");
	DFTRACER_CPP_FUNCTION_UPDATE("double", 3.14);
	DFTRACER_CPP_FUNCTION_UPDATE_TYPE("flag", true, MetadataType::MT_VALUE);
	{
		DFTRACER_CPP_REGION(STATIC);
		DFTRACER_CPP_REGION_UPDATE(STATIC, "key", "value");
		DFTRACER_CPP_REGION_UPDATE_TYPE(STATIC, "number", 3L, MetadataType::MT_KEY);
	}
	DFTRACER_CPP_REGION_START(DYNAMIC);
	DFTRACER_CPP_REGION_DYN_UPDATE(DYNAMIC, "n", n);
	DFTRACER_CPP_REGION_DYN_UPDATE(DYNAMIC, "text", std::string("std"));
	DFTRACER_CPP_REGION_END(DYNAMIC);
	DFTRACER_CPP_METADATA(meta, "a", "b");
	DFTracer mine("mine", "own");

	mine.update("real", 0.5f);
	if (n > 0)
		throw n;
}

int main()
{
	DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
	DFTRACER_CPP_APP_METADATA_INT("n", 1);
	work(0);
	try {
		work(1);
	} catch (int) {
	}
	DFTRACER_CPP_FINI();
	return 0;
}
