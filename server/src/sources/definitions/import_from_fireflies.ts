import { defineSource } from '../define.ts'
import { meetings, transcripts } from '../systems/fireflies/transcripts.ts'

export default defineSource({
  slug: 'import_from_fireflies',
  name: 'Import from Fireflies',
  description: 'Meetings with their summaries and action items; on a schedule, new ones.',
  mode: 'either',
  shape: transcripts,
  check: ({ from, to }) =>
    from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to)
      ? [{ field: 'to', message: 'must not be before from' }]
      : [],
  pulls: [meetings],
})
