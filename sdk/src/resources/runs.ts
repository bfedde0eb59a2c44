import type { Call } from '../call.ts'
import { followChanges } from '../changes.ts'
import type { CallOptions } from '../options.ts'
import { path, type SheetRef, sheetPath } from '../paths.ts'
import { throwIfAborted } from '../pauses.ts'
import { Resource } from '../resource.ts'
import { createDeadline, refuseDryRun, type WaitOptions } from '../waiting.ts'
import type {
  Causes,
  CausesQuery,
  Estimate,
  EstimateBody,
  Queued,
  ResumeRunBody,
  Run,
  RunAllBody,
  RunRowsBody,
  SheetChange,
  Stopped,
} from '../wire.ts'

export type RunProgress = { run_id: string; rows_done: number; rows_queued: number }

export type RunAndWaitOptions = WaitOptions &
  CallOptions & {
    max_credits?: number | undefined
    /** Receives the progress when more rows are done. */
    onProgress?: ((progress: RunProgress) => void) | undefined
  }

type Selector = Omit<RunRowsBody, 'dry_run'>
type Dry<Body> = NonNullable<Body> & { dry_run: true }

/** Milliseconds between two looks at a run, without and with change events. */
const POLL_MS = 2000
const POLL_BESIDE_EVENTS_MS = 15_000

export class RunMethods extends Resource {
  /** Runs the rows of exactly one selector: `row_ids`, `first_10`, or filters. `X-Run-Id` of the answer is the run. */
  run(sheet: SheetRef, selector: Dry<RunRowsBody>, options?: CallOptions): Call<Estimate>
  run(sheet: SheetRef, selector: RunRowsBody, options?: CallOptions): Call<Queued>
  run(sheet: SheetRef, selector: RunRowsBody, options?: CallOptions): Call<unknown> {
    return this.call('POST', sheetPath(sheet, '/run'), options, { body: selector })
  }

  runAll(sheet: SheetRef, body: Dry<RunAllBody>, options?: CallOptions): Call<Estimate>
  runAll(sheet: SheetRef, body?: RunAllBody, options?: CallOptions): Call<Queued>
  runAll(sheet: SheetRef, body: RunAllBody = {}, options?: CallOptions): Call<unknown> {
    return this.call('POST', sheetPath(sheet, '/run-all'), options, { body })
  }

  /** Returns what a run would cost, without running it. */
  estimate(sheet: SheetRef, selector: EstimateBody | 'all', options?: CallOptions): Call<Estimate> {
    const body = selector === 'all' ? { all: true } : selector
    return this.call('POST', sheetPath(sheet, '/estimate'), options, { body, reads: true })
  }

  stop(sheet: SheetRef, options?: CallOptions): Call<Stopped> {
    return this.call('POST', sheetPath(sheet, '/stop'), options)
  }

  list(sheet: SheetRef, options?: CallOptions): Call<Run[]> {
    return this.call('GET', sheetPath(sheet, '/runs'), options)
  }

  get(sheet: SheetRef, run_id: string, options?: CallOptions): Call<Run> {
    return this.call('GET', sheetPath(sheet, path`/runs/${run_id}`), options)
  }

  /** Continues rows that stopped for want of credits. */
  resume(
    sheet: SheetRef,
    run_id: string,
    ...[body, options]: [body: Dry<ResumeRunBody>, options?: CallOptions]
  ): Call<Estimate>
  resume(
    sheet: SheetRef,
    run_id: string,
    ...[body, options]: [body?: ResumeRunBody, options?: CallOptions]
  ): Call<Queued>
  resume(
    sheet: SheetRef,
    run_id: string,
    ...[body = {}, options]: [body?: ResumeRunBody, options?: CallOptions]
  ): Call<unknown> {
    return this.call('POST', sheetPath(sheet, path`/runs/${run_id}/resume`), options, { body })
  }

  /** Returns the failed cells of the sheet, grouped by cause. */
  causes(sheet: SheetRef, query?: CausesQuery, options?: CallOptions): Call<Causes> {
    return this.call('GET', sheetPath(sheet, '/causes'), options, { query })
  }

  /** Follows the changes of a sheet until the loop ends or the signal is aborted; it reconnects by itself. */
  changes(sheet: SheetRef, options?: CallOptions): AsyncGenerator<SheetChange> {
    return followChanges(this.transport, sheetPath(sheet, '/changes'), options)
  }

  /**
   * Runs rows and waits until this run has ended. Returns the run, also when cells of it failed; null if no row was
   * queued.
   */
  async runAndWait(
    sheet: SheetRef,
    selector: Selector | 'all',
    { onProgress, waitTimeout, pollInterval, max_credits, ...options }: RunAndWaitOptions = {},
  ): Promise<Run | null> {
    const limit = createDeadline({ waitTimeout }, 'The run')
    const limits = max_credits === undefined ? {} : { max_credits }
    if (selector !== 'all') refuseDryRun(selector)
    const call =
      selector === 'all'
        ? this.runAll(sheet, limits, options)
        : this.run(sheet, { ...selector, ...limits }, options)
    const { response } = await call.withResponse()
    const runId = response.headers.get('x-run-id')
    if (runId === null) return null
    const { idempotencyKey: _key, ...reading } = options
    const follower = new RunFollower(runId, onProgress)
    const following = new AbortController()
    const stop = () => following.abort()
    options.signal?.addEventListener('abort', stop, { once: true })
    const changes = this.changes(sheet, { ...reading, signal: following.signal })
    const watching = follower.watch(changes)
    try {
      for (;;) {
        throwIfAborted(options.signal)
        const run = await this.get(sheet, runId, reading)
        follower.report(run)
        if (run.state !== 'running') return run
        await follower.pause(limit(pollInterval ?? follower.pollInterval))
      }
    } finally {
      stop()
      options.signal?.removeEventListener('abort', stop)
      await watching
    }
  }
}

/** Knows the progress of one run, from its change events and from looks at it. */
class RunFollower {
  /** The time between two looks: longer while the change events of the sheet are about this run. */
  pollInterval = POLL_MS
  readonly #runId: string
  readonly #onProgress: ((progress: RunProgress) => void) | undefined
  #rowsDone = -1
  #failure: { cause: unknown } | undefined
  #mayHaveEnded = false
  #wake: () => void = () => undefined

  constructor(runId: string, onProgress: ((progress: RunProgress) => void) | undefined) {
    this.#runId = runId
    this.#onProgress = onProgress
  }

  /** Reports progress that is new: it never falls. */
  report({ rows_done, rows_queued }: { rows_done: number; rows_queued: number }): void {
    if (rows_done <= this.#rowsDone) return
    this.#rowsDone = rows_done
    this.#onProgress?.({ run_id: this.#runId, rows_done, rows_queued })
  }

  /** Reads change events until they end. Without them, the run is looked at more often. */
  async watch(changes: AsyncGenerator<SheetChange>): Promise<void> {
    try {
      for await (const { run } of changes) {
        const isOurs = run?.run_id === this.#runId
        this.pollInterval = isOurs ? POLL_BESIDE_EVENTS_MS : POLL_MS
        if (isOurs) this.#reportEvent(run)
        if (isOurs && run.state === 'running') continue
        this.#mayHaveEnded ||= isOurs
        this.#wake()
      }
    } catch {
      // The looks at the run go on, and report what is wrong if they fail too.
      this.pollInterval = POLL_MS
    }
    this.#wake()
  }

  #reportEvent(run: { rows_done: number; rows_queued: number }): void {
    try {
      this.report(run)
    } catch (cause) {
      this.#failure = { cause }
      this.#wake()
    }
  }

  /** Waits for the time, or until an event calls for a look. */
  async pause(ms: number): Promise<void> {
    this.#throwFailure()
    if (!this.#mayHaveEnded) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#mayHaveEnded = false
    this.#throwFailure()
  }

  /** Throws what the caller's own function for progress has thrown. */
  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.cause
  }
}
