/** The texts and examples of an operation in the reference, beyond its schemas. */
export type Operation = {
  /** The unique id. Generated clients name their methods after it. */
  id: string
  description: string
  /** An example body that can be sent as it stands, with the ids of `EXAMPLE_IDS`. */
  body?: unknown
  /** An example file, for operations whose body is the bytes of a file. */
  file?: string
  /** The query parameters of the example. */
  query?: Record<string, string>
  /** Marks an operation that answers with server-sent events. */
  streams?: true
  /** Marks an operation that answers with CSV when `format=csv` is requested. */
  writesCsv?: true
}

/** The operations by method and path, as `GET /user`. */
export type Operations = Record<string, Operation>

/** The ids in examples. Tests replace them with those of a real sheet and send every example. */
export const EXAMPLE_IDS = {
  workflow_id: '0198f3a2-5c1e-7d40-8a6b-1f2e3d4c5b6a',
  sheet_id: '0198f3a2-5c1e-7d40-8a6b-1f2e3d4c5b6a',
  row_id: '0198f3a3-77b0-7c11-9f0e-6a5b4c3d2e1f',
  action_id: 'normalize_domain',
  action_instance_id: 'normalize_domain_1',
  field_name: 'website',
  export_id: '0198f3a4-0a1b-7c2d-8e3f-4a5b6c7d8e9f',
  shortcut_id: '0198f3a5-1b2c-7d3e-8f4a-5b6c7d8e9f0a',
  run_id: '0198f3a6-2c3d-7e4f-8a5b-6c7d8e9f0a1b',
  test_id: '0198f3ad-9d0e-7f1a-8b2c-3d4e5f6a7b8c',
  request_id: '0198f3a7-3d4e-7f5a-8b6c-7d8e9f0a1b2c',
  source_id: 'import_from_api',
  source_instance_id: '0198f3a8-4e5f-7a6b-8c7d-8e9f0a1b2c3d',
  segment_id: '0198f3a9-5f6a-7b7c-8d8e-9f0a1b2c3d4e',
  sync_id: '0198f3aa-6a7b-7c8d-8e9f-0a1b2c3d4e5f',
  connection_id: '0198f3ab-7b8c-7d9e-8f0a-1b2c3d4e5f6a',
  view_id: '0198f3ae-0e1f-7a2b-8c3d-4e5f6a7b8c9d',
  budget_id: '0198f3ac-8c9d-7e0f-8a1b-2c3d4e5f6a7b',
  comment_id: '0198f3ae-0e1f-7a2b-8c3d-4e5f6a7b8c9d',
} as const
