/* The same as words.c in C++: an exception ends a region, and is noted in the trace. */
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>
#include <lextrace/lextrace.h>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::string read_file(const std::string &path)
{
	LEXTRACE_FUNCTION("IO", LEXTRACE_COMP_IO);
	std::ifstream file(path, std::ios::binary);

	lextrace_arg("path", path);
	if (!file)
		throw std::runtime_error("cannot be read");
	std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());

	lextrace_arg("bytes", text.size());
	return text;
}

static std::size_t count_words(const std::string &text)
{
	LEXTRACE_SCOPE("Compute", "count", LEXTRACE_COMP_CPU);
	std::size_t words = 0;
	bool inside = false;

	for (unsigned char letter : text) {
		words += !std::isspace(letter) && !inside;
		inside = !std::isspace(letter);
	}
	lextrace_arg("words", words);
	return words;
}

static void work(const std::string &path, std::size_t &words)
{
	static lextrace_region total = LEXTRACE_REGION_IN("Words", "total");
	static std::mutex lock;
	static double all;

	try {
		words = count_words(read_file(path));
	} catch (const std::exception &error) {
		std::cerr << path << ": " << error.what() << "\n";
	}
	std::lock_guard<std::mutex> guard(lock);

	all += static_cast<double>(words);
	lextrace_counter(&total, all);
}

int main(int argc, char **argv)
{
	static lextrace_region wait = LEXTRACE_REGION_IN("Words", "wait"), done = LEXTRACE_REGION_IN("Words", "done");
	std::vector<std::string> paths(argv + 1, argv + std::max(argc, 1));
	std::vector<std::size_t> words(paths.size());
	std::vector<std::thread> threads;

	lextrace_metadata_int("files", static_cast<int64_t>(paths.size()));
	for (std::size_t i = 0; i < paths.size(); i++)
		threads.emplace_back(work, std::cref(paths[i]), std::ref(words[i]));
	{
		lextrace::scope waiting(wait);

		for (std::thread &thread : threads)
			thread.join();
	}
	lextrace_point(&done, {lextrace_of("files", paths.size()), lextrace_of("by", "C++")});
	for (std::size_t i = 0; i < paths.size(); i++)
		std::cout << words[i] << " " << paths[i] << "\n";
}
