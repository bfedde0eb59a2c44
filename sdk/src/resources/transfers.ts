import type { Call } from '../call.ts'
import { LoamError } from '../errors.ts'
import type { CallOptions } from '../options.ts'
import { path, type SheetRef, sheetPath } from '../paths.ts'
import { Resource } from '../resource.ts'
import type { Transport } from '../transport.ts'
import { poll, refuseDryRun, type WaitOptions } from '../waiting.ts'
import type { Estimate, Export, ExportBody, ImportBody, ImportStatus, StartedImport } from '../wire.ts'
import { type FileBody, FileMethods } from './organisation.ts'

export type ImportAndWaitOptions = Omit<ImportBody, 'file_ref' | 'dry_run'> &
  WaitOptions &
  CallOptions & {
    /** The name of the file, which ends in .csv or .xlsx. */
    name: string
    onProgress?: ((status: ImportStatus) => void) | undefined
  }

const POLL_MS = 1000

export class ImportMethods extends Resource {
  readonly #files: FileMethods

  constructor(transport: Transport) {
    super(transport)
    this.#files = new FileMethods(transport)
  }

  start(sheet: SheetRef, body: ImportBody & { dry_run: true }, options?: CallOptions): Call<Estimate>
  start(sheet: SheetRef, body: ImportBody, options?: CallOptions): Call<StartedImport>
  start(sheet: SheetRef, body: ImportBody, options?: CallOptions): Call<unknown> {
    return this.call('POST', sheetPath(sheet, '/csv'), options, { body })
  }

  status(sheet: SheetRef, options?: CallOptions): Call<ImportStatus> {
    return this.call('GET', sheetPath(sheet, '/csv'), options)
  }

  /** Uploads a file, imports it and waits for the end. Returns the status, also when the import failed. */
  async importAndWait(
    sheet: SheetRef,
    file: FileBody,
    { name, onProgress, waitTimeout, pollInterval, ...given }: ImportAndWaitOptions,
  ): Promise<ImportStatus> {
    const { signal, timeout, maxRetries, headers, idempotencyKey: key, ...fields } = given
    refuseDryRun(fields)
    const options = { signal, timeout, maxRetries, headers }
    const { file_ref } = await this.#files.upload(file, name, options)
    await this.start(sheet, { file_ref, ...fields }, { ...options, idempotencyKey: key })
    return poll(
      {
        look: () => this.status(sheet, options),
        isEnded: ({ status }) => status !== 'processing',
        onState: onProgress,
        what: 'The import',
        interval: POLL_MS,
        signal,
      },
      { waitTimeout, pollInterval },
    )
  }
}

export class ExportMethods extends Resource {
  start(sheet: SheetRef, body: NonNullable<ExportBody> = {}, options?: CallOptions): Call<Export> {
    return this.call('POST', sheetPath(sheet, '/export'), options, { body })
  }

  get(sheet: SheetRef, export_id: string, options?: CallOptions): Call<Export> {
    return this.call('GET', sheetPath(sheet, path`/export/${export_id}`), options)
  }

  /** Returns the answer with the file of a completed export; its body is a stream. */
  async download(sheet: SheetRef, export_id: string, options?: CallOptions): Promise<Response> {
    const { status, file_url, error } = await this.get(sheet, export_id, options)
    if (file_url !== undefined) return this.transport.download(file_url, options)
    const why =
      status === 'failed'
        ? `failed: ${error ?? 'no reason given'}`
        : `is ${status}: wait until it is completed`
    throw new LoamError(`The export ${export_id} ${why}`)
  }
}
