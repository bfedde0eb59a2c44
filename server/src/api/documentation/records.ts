import { EXAMPLE_IDS, type Operations } from './operation.ts'

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
  'POST /records/segments/{segment_id}/sync': {
    id: 'syncSegment',
    description:
      'Delivers members of a segment to a workflow, every five minutes. A segment has one sync: calling again adds a destination (`reused_sync`). `suppress` delivers a member once ever, `repush` each time it comes back; `push_existing` also those who are members now.',
    body: {
      workflow_id: EXAMPLE_IDS.workflow_id,
      field_mapping: { 'input.company': 'domain' },
      push_existing: true,
    },
  },
  'GET /records/syncs': {
    id: 'listSyncs',
    description: 'Your syncs with their state and the counts of each destination that the key may see.',
  },
  'GET /records/syncs/{sync_id}': {
    id: 'getSync',
    description:
      'A sync: its state, how many members are held and why, its last error, and its destinations.',
  },
  'DELETE /records/syncs/{sync_id}': {
    id: 'deleteSync',
    description: 'Ends a sync for all destinations. Rows that were delivered stay.',
  },
  'POST /records/syncs/{sync_id}/resume': {
    id: 'resumeSync',
    description: 'Lets a sync go on that an error had paused.',
  },
  'POST /records/syncs/{sync_id}/confirm': {
    id: 'confirmHeldMembers',
    description: 'Decides about members that were held back: `push` delivers them, `skip` never does.',
    body: { choice: 'push' },
  },
  'POST /records/syncs/{sync_id}/destinations/{connection_id}/pause': {
    id: 'pauseDestination',
    description: 'Delivers nothing to one destination until it is resumed; others go on.',
  },
  'POST /records/syncs/{sync_id}/destinations/{connection_id}/resume': {
    id: 'resumeDestination',
    description: 'Lets a destination go on; `choice` says whether it gets what came in between.',
    body: { choice: 'push' },
  },
}
