/* info for programs. */
#include "base/json.h"
#include "cli/cmd_info.h"

static void put_u64(struct lx_json *js, const char *key, uint64_t value)
{
	lx_json_key(js, key);
	lx_json_u64(js, value);
}

static void put_text(struct lx_json *js, const char *key, const char *text)
{
	lx_json_key(js, key);
	lx_json_string(js, text);
}

static void put_losses(struct lx_json *js, const uint64_t *lost, uint64_t total)
{
	lx_json_key(js, "lost");
	lx_json_object(js);
	put_u64(js, "events", total);
	for (unsigned cause = 0; cause < LX_LOSS_COUNT; cause++)
		if (lost[cause])
			put_u64(js, lx_loss_key(cause), lost[cause]);
	lx_json_object_end(js);
}

static void put_process(struct lx_json *js, const struct lx_info *info, const struct lx_process *process,
			const struct lx_spans_totals *totals)
{
	const struct lx_program *program = lx_functions_program(&info->pass.functions, process);
	char ended[16];

	lx_json_object(js);
	put_u64(js, "pid", process->state.pid);
	put_u64(js, "parent_pid", process->state.parent_pid);
	put_text(js, "folder", process->name);
	put_text(js, "command", program->command);
	put_text(js, "python", process->key[LX_KEY_python]);
	put_text(js, "executable", process->key[LX_KEY_executable]);
	put_text(js, "cwd", process->key[LX_KEY_cwd]);
	put_text(js, "host", process->key[LX_KEY_host]);
	put_text(js, "system", process->key[LX_KEY_system]);
	put_text(js, "ended", lx_process_ended(process, ended, sizeof(ended)));
	lx_json_key(js, "exit_status");
	if (process->state.ended == 1)
		lx_json_u64(js, (uint64_t)(process->state.exit_status & 255));
	else
		lx_json_null(js);
	put_u64(js, "started_ns", process->state.start.realtime);
	lx_json_key(js, "duration_ns");
	lx_json_double(js, lx_info_duration(process), 0);
	put_text(js, "clock", process->state.clock_kind == LX_CLOCK_TSC ? "tsc" : "monotonic");
	lx_json_key(js, "ns_per_tick");
	lx_json_double(js, process->ns_per_tick, 12);
	put_u64(js, "events", totals->events);
	put_u64(js, "calls", totals->begins);
	put_u64(js, "lexgions", process->lexgion_count);
	put_losses(js, process->lost, process->lost_total);
	lx_info_json_control(js, process);
	lx_json_key(js, "threads");
	lx_json_array(js);
	for (size_t number = 0; number < process->thread_count; number++) {
		const struct lx_thread_info *thread = &process->threads[number];

		if (!thread->tid)
			continue;
		lx_json_object(js);
		put_u64(js, "thread", thread->number);
		put_u64(js, "tid", thread->tid);
		put_text(js, "name", thread->name);
		lx_json_object_end(js);
	}
	lx_json_array_end(js);
	lx_json_object_end(js);
}

static void put_packets(struct lx_json *js, const struct lx_process *process)
{
	for (size_t s = 0; s < process->stream_count; s++) {
		for (size_t n = 0; n < process->streams[s].packet_count; n++) {
			const struct lx_packet_ref *packet = &process->streams[s].packets[n];

			lx_json_object(js);
			put_u64(js, "pid", process->state.pid);
			put_u64(js, "stream", process->streams[s].number);
			put_u64(js, "packet", packet->header->packet_seq_num);
			put_u64(js, "thread", packet->header->thread);
			put_u64(js, "from_ns", lx_real_ns(process, packet->header->timestamp_begin));
			put_u64(js, "to_ns", lx_real_ns(process, packet->header->timestamp_end));
			put_u64(js, "events", lx_info_packet_events(packet));
			put_u64(js, "bytes", packet->header->packet_size / 8);
			put_u64(js, "lost_so_far", packet->header->events_discarded);
			lx_json_key(js, "open");
			lx_json_bool(js, packet->open);
			lx_json_object_end(js);
		}
	}
}

static void put_health(struct lx_json *js, const struct lx_info *info)
{
	const struct lx_health *health = &info->health;

	lx_json_key(js, "complete");
	lx_json_bool(js, health->complete);
	put_u64(js, "events", health->events);
	put_u64(js, "calls", health->calls);
	lx_json_key(js, "kinds");
	lx_json_object(js);
	for (unsigned kind = 0; kind < LX_EV_COUNT; kind++)
		if (health->kinds[kind])
			put_u64(js, lx_event_name(kind), health->kinds[kind]);
	lx_json_object_end(js);
	put_losses(js, health->lost, health->lost_total);
	lx_json_key(js, "repaired");
	lx_json_object(js);
	put_u64(js, "closed_at_last_event", health->closed_open);
	put_u64(js, "closed_with_caller", health->closed_lost);
	put_u64(js, "ends_left_out", health->dropped_ends);
	put_u64(js, "torn_streams", health->torn);
	lx_json_object_end(js);
}

int lx_info_json(struct lx_info *info)
{
	const struct lx_trace *trace = info->pass.trace;
	struct lx_json json, *js = &json;

	lx_json_init(js, info->out.file, true);
	lx_json_object(js);
	put_text(js, "run", trace->path);
	put_u64(js, "bytes", info->bytes);
	put_u64(js, "files", info->files);
	put_u64(js, "first_ns", trace->first);
	put_u64(js, "last_ns", trace->last);
	lx_json_key(js, "clock_error_ns");
	lx_json_double(js, info->clock_error, 0);
	put_health(js, info);
	put_text(js, "notes", trace->notes);
	lx_json_key(js, "processes");
	lx_json_array(js);
	for (size_t i = 0; i < trace->process_count; i++)
		put_process(js, info, &trace->processes[i], &info->pass.totals[i]);
	lx_json_array_end(js);
	if (info->packets) {
		lx_json_key(js, "packets");
		lx_json_array(js);
		for (size_t i = 0; i < trace->process_count; i++)
			put_packets(js, &trace->processes[i]);
		lx_json_array_end(js);
	}
	lx_json_object_end(js);
	putc('\n', info->out.file);
	return 0;
}
