import { EXAMPLE_IDS, type Operations } from './operation.ts'

export const RECORDS: Operations = {
  'GET /records/observe/segments': {
    id: 'listSegments',
    description:
      'The segments of the record store with their filters and numbers of members. `id` is the `segment_id` of other calls.',
    query: { limit: '20' },
  },
  'POST /records/observe/segments/{segment_id}/changes': {
    id: 'listSegmentChanges',
    description:
      'The members that entered, left and returned since a number of the feed, in order. Pass `nextSince` of the last answer as `since`. 409 means that the filter changed, 410 that the number is too old: restart with 0.',
    query: { since: '0' },
  },
  'POST /records/segments/{segment_id}/sync': {
    id: 'syncSegment',
    description:
      'Delivers members of a segment to a workflow, every five minutes. A segment has one sync: calling again adds a destination (`reused_sync`). `suppress` delivers each member only once, `repush` each time it returns; `push_existing` also delivers the current members.',
    body: {
      workflow_id: EXAMPLE_IDS.workflow_id,
      field_mapping: { 'input.company': 'domain' },
      push_existing: true,
    },
  },
  'GET /records/syncs': {
    id: 'listSyncs',
    description: 'Your syncs with their states and the counts of each destination that the key may see.',
  },
  'GET /records/syncs/{sync_id}': {
    id: 'getSync',
    description:
      'A sync with its state, the number of held members and the reason, its last error, and its destinations.',
  },
  'DELETE /records/syncs/{sync_id}': {
    id: 'deleteSync',
    description: 'Deletes a sync for all destinations. Delivered rows stay.',
  },
  'POST /records/syncs/{sync_id}/resume': {
    id: 'resumeSync',
    description: 'Resumes a sync that was paused by an error.',
  },
  'POST /records/syncs/{sync_id}/confirm': {
    id: 'confirmHeldMembers',
    description: 'Decides about held members: `push` delivers them, `skip` discards them.',
    body: { choice: 'push' },
  },
  'POST /records/syncs/{sync_id}/destinations/{connection_id}/pause': {
    id: 'pauseDestination',
    description: 'Stops deliveries to one destination until it is resumed; the other destinations continue.',
  },
  'POST /records/syncs/{sync_id}/destinations/{connection_id}/resume': {
    id: 'resumeDestination',
    description:
      'Resumes a destination; `choice` decides whether it gets the members that arrived while it was paused.',
    body: { choice: 'push' },
  },
}
