import type { Call } from '../call.ts'
import type { CallOptions } from '../options.ts'
import { type PageSource, PageCall } from '../pages.ts'
import { path } from '../paths.ts'
import { Resource, type Warned } from '../resource.ts'
import type {
  ChangeSourceBody,
  ConfirmBody,
  CreatedSource,
  Estimate,
  ListSegmentsQuery,
  ResumeDestinationBody,
  Segment,
  SegmentChanges,
  SegmentChangesQuery,
  SegmentSync,
  SourceData,
  SourceDataQuery,
  SourceInstance,
  SourceOptionList,
  SourcePreview,
  SourceState,
  SourceStatusBody,
  SourceStatusChange,
  SyncedSegment,
  SyncedSource,
  SyncSegmentBody,
  SyncSourceBody,
} from '../wire.ts'

type Values = Record<string, unknown>
type DryRun = { dry_run: true }

export class SourceMethods extends Resource {
  /** Returns some records of a source before it is created: `data` and `metadata`. It costs nothing. */
  preview(source_id: string, body: Values = {}, options?: CallOptions): Call<SourcePreview> {
    const more = { body, reads: true }
    return this.whole('POST', path`/sources/${source_id}/preview`, options, more).map((answer) => {
      const { data, metadata } = answer as SourcePreview
      return { data, metadata }
    })
  }

  create(source_id: string, body: Values & DryRun, options?: CallOptions): Call<Estimate>
  create(source_id: string, body: Values, options?: CallOptions): Call<CreatedSource>
  create(source_id: string, body: Values, options?: CallOptions): Call<unknown> {
    return this.call('POST', path`/sources/${source_id}`, options, { body })
  }

  /** Returns the values that a field of a type of source offers. */
  options(
    source_id: string,
    field: string,
    ...[context, options]: [context?: Values, options?: CallOptions]
  ): Call<SourceOptionList> {
    const body = context === undefined ? {} : { context }
    return this.call('POST', path`/sources/${source_id}/options/${field}`, options, { body, reads: true })
  }

  list(options?: CallOptions): Call<SourceInstance[]> {
    return this.call('GET', '/sources', options)
  }

  get(source_instance_id: string, options?: CallOptions): Call<SourceState> {
    return this.call('GET', path`/sources/${source_instance_id}`, options)
  }

  update(source_instance_id: string, body: ChangeSourceBody, options?: CallOptions): Call<SourceState> {
    return this.call('PATCH', path`/sources/${source_instance_id}`, options, { body })
  }

  /** Lists the records that a source has imported. */
  data(
    source_instance_id: string,
    query: SourceDataQuery = {},
    options?: CallOptions,
  ): PageCall<SourceData, Values> {
    const where = path`/sources/${source_instance_id}/data`
    const from = (query: SourceDataQuery): PageSource<SourceData, Values> => ({
      fetch: () => this.call<SourceData>('GET', where, options, { query }),
      items: ({ rows }) => rows,
      next: ({ rows, page_no, page_size, total_count }) =>
        rows.length === 0 || page_no * page_size >= total_count
          ? null
          : from({ ...query, page_no: page_no + 1 }),
    })
    return PageCall.first(from(query))
  }

  sync(source_instance_id: string, body: SyncSourceBody & DryRun, options?: CallOptions): Call<Estimate>
  sync(source_instance_id: string, body: SyncSourceBody, options?: CallOptions): Call<Warned<SyncedSource>>
  sync(source_instance_id: string, body: SyncSourceBody, options?: CallOptions): Call<unknown> {
    const where = path`/sources/${source_instance_id}/sync`
    return body.dry_run === true
      ? this.call('POST', where, options, { body })
      : this.warned('POST', where, options, { body })
  }

  setStatus(
    source_instance_id: string,
    status: SourceStatusBody['status'],
    options?: CallOptions,
  ): Call<SourceStatusChange> {
    return this.call('PATCH', path`/sources/${source_instance_id}/status`, options, { body: { status } })
  }
}

export class SegmentMethods extends Resource {
  list(query?: ListSegmentsQuery, options?: CallOptions): Call<Segment[]> {
    return this.call('GET', '/records/observe/segments', options, { query })
  }

  changes(segment_id: string, query?: SegmentChangesQuery, options?: CallOptions): Call<SegmentChanges> {
    const more = { query, reads: true }
    return this.call('POST', path`/records/observe/segments/${segment_id}/changes`, options, more)
  }

  /** Delivers the members of a segment to a workflow. */
  sync(segment_id: string, body: SyncSegmentBody & DryRun, options?: CallOptions): Call<Estimate>
  sync(segment_id: string, body: SyncSegmentBody, options?: CallOptions): Call<SyncedSegment>
  sync(segment_id: string, body: SyncSegmentBody, options?: CallOptions): Call<unknown> {
    return this.call('POST', path`/records/segments/${segment_id}/sync`, options, { body })
  }
}

export class SyncMethods extends Resource {
  list(options?: CallOptions): Call<SegmentSync[]> {
    return this.call('GET', '/records/syncs', options)
  }

  get(sync_id: string, options?: CallOptions): Call<SegmentSync> {
    return this.call('GET', path`/records/syncs/${sync_id}`, options)
  }

  delete(sync_id: string, options?: CallOptions): Call<SegmentSync> {
    return this.call('DELETE', path`/records/syncs/${sync_id}`, options)
  }

  resume(sync_id: string, options?: CallOptions): Call<SegmentSync> {
    return this.call('POST', path`/records/syncs/${sync_id}/resume`, options)
  }

  /** Delivers (`push`) or drops (`skip`) the members that wait for a confirmation. */
  confirm(sync_id: string, choice: ConfirmBody['choice'], options?: CallOptions): Call<SegmentSync> {
    return this.call('POST', path`/records/syncs/${sync_id}/confirm`, options, { body: { choice } })
  }

  pauseDestination(sync_id: string, connection_id: string, options?: CallOptions): Call<SegmentSync> {
    return this.call('POST', destinationPath(sync_id, connection_id, 'pause'), options)
  }

  resumeDestination(
    sync_id: string,
    connection_id: string,
    ...[choice, options]: [choice?: NonNullable<ResumeDestinationBody>['choice'], options?: CallOptions]
  ): Call<SegmentSync> {
    const body = choice === undefined ? {} : { choice }
    return this.call('POST', destinationPath(sync_id, connection_id, 'resume'), options, { body })
  }
}

const destinationPath = (sync_id: string, connection_id: string, what: 'pause' | 'resume') =>
  path`/records/syncs/${sync_id}/destinations/${connection_id}/${what}`
