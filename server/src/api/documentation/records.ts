import type { Operations } from './operation.ts'

export const RECORDS: Operations = {
  'GET /records/observe/segments': {
    id: 'listSegments',
    description:
      'Segments of the record store with their filters and how many members each has. `id` is the `segment_id` of other calls.',
    query: { limit: '20' },
  },
  'POST /records/observe/segments/{segment_id}/changes': {
    id: 'listSegmentChanges',
    description:
      'Who entered, left and came back since a number of the feed, in order. Pass `nextSince` of the last answer as `since`. 409 says that the filter changed, 410 that the number is too old: begin anew with 0.',
    query: { since: '0' },
  },
}
