import type { Call } from '../call.ts'
import type { CallOptions } from '../options.ts'
import { type PageSource, PageCall } from '../pages.ts'
import { path } from '../paths.ts'
import { Resource } from '../resource.ts'
import { poll, refuseDryRun, type WaitOptions } from '../waiting.ts'
import type {
  Estimate,
  ListShortcutRunsQuery,
  ListShortcutsQuery,
  QueuedShortcutBatch,
  QueuedShortcutRun,
  Shortcut,
  ShortcutRun,
  ShortcutRunPage,
} from '../wire.ts'

export type SpendingOptions = { max_credits?: number | undefined; dry_run?: boolean | undefined }
type DryRun = { dry_run: true }
type Values = Record<string, unknown>

export type ShortcutWaitOptions = WaitOptions &
  CallOptions & {
    max_credits?: number | undefined
    onProgress?: ((run: ShortcutRun) => void) | undefined
  }

const POLL_MS = 1000
const ENDS = new Set<string>(['completed', 'failed', 'error', 'outOfCredits'])

export class ShortcutMethods extends Resource {
  list(query?: ListShortcutsQuery, options?: CallOptions): Call<Shortcut[]> {
    return this.call('GET', '/shortcuts', options, { query })
  }

  get(id: string, options?: CallOptions): Call<Shortcut> {
    return this.call('GET', path`/shortcuts/${id}`, options)
  }

  /** Starts a run. `input_data` is keyed by the references of the input schema. */
  run(
    id: string,
    input_data: Values,
    ...[more, options]: [DryRun & SpendingOptions, CallOptions?]
  ): Call<Estimate>
  run(
    id: string,
    input_data: Values,
    ...[more, options]: [SpendingOptions?, CallOptions?]
  ): Call<QueuedShortcutRun>
  run(id: string, input_data: Values, ...[more, options]: [SpendingOptions?, CallOptions?]): Call<unknown> {
    return this.call('POST', path`/shortcuts/${id}/run`, options, { body: { input_data, ...more } })
  }

  /** Starts a run and waits for its end. Returns the run, also when it failed. */
  async runAndWait(
    id: string,
    input_data: Values,
    { max_credits, onProgress, waitTimeout, pollInterval, ...options }: ShortcutWaitOptions = {},
  ): Promise<ShortcutRun> {
    refuseDryRun(options)
    const { idempotencyKey: _key, ...reading } = options
    const limits = max_credits === undefined ? {} : { max_credits }
    const { id: run_id } = await this.run(id, input_data, limits, options)
    return poll(
      {
        look: () => this.getRun(id, run_id, reading),
        isEnded: ({ status }) => ENDS.has(status),
        onState: onProgress,
        what: 'The run of the shortcut',
        interval: POLL_MS,
        signal: options.signal,
      },
      { waitTimeout, pollInterval },
    )
  }

  /** Starts up to 1,000 runs. */
  runBatch(
    id: string,
    rows: Values[],
    ...[more, options]: [DryRun & SpendingOptions, CallOptions?]
  ): Call<Estimate>
  runBatch(
    id: string,
    rows: Values[],
    ...[more, options]: [SpendingOptions?, CallOptions?]
  ): Call<QueuedShortcutBatch>
  runBatch(id: string, rows: Values[], ...[more, options]: [SpendingOptions?, CallOptions?]): Call<unknown> {
    return this.call('POST', path`/shortcuts/${id}/run/batch`, options, { body: { rows, ...more } })
  }

  /** Lists runs, newest first. */
  runs(
    id: string,
    query: ListShortcutRunsQuery = {},
    options?: CallOptions,
  ): PageCall<ShortcutRunPage, ShortcutRun> {
    const from = (query: ListShortcutRunsQuery): PageSource<ShortcutRunPage, ShortcutRun> => ({
      fetch: () => this.call<ShortcutRunPage>('GET', path`/shortcuts/${id}/runs`, options, { query }),
      items: ({ runs }) => runs,
      next: ({ runs, pagination: { limit, offset, total } }) => {
        const end = offset + runs.length
        // With a filter, `total` is the number of runs on the page: only a page that is not full is the last one.
        const isFiltered = query.batch_id !== undefined || query.mode !== undefined
        const isLast = runs.length < limit || (!isFiltered && end >= total)
        return isLast ? null : from({ ...query, offset: end })
      },
    })
    return PageCall.first(from(query))
  }

  getRun(id: string, run_id: string, options?: CallOptions): Call<ShortcutRun> {
    return this.call('GET', path`/shortcuts/${id}/runs/${run_id}`, options)
  }
}
