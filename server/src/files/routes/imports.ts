import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { success } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { ImportBody, ImportStatus, Mapping, StartedImport } from '#contract/imports.ts'
import { accepted, ok } from '../../api/http/envelope.ts'
import type { RouteServices } from '../../api/http/event-streams.ts'
import { giveKeyBack } from '../../api/http/idempotency.ts'
import type { Api } from '../../api/services.ts'
import type { Definition, InputColumn } from '../../catalog/chain/definition.ts'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { addLongJob } from '../../database/queue/long-jobs.ts'
import { AppError, forbidden, invalid, validationError } from '../../lib/errors.ts'
import { createHints } from '../../lib/nearest-name.ts'
import { toCap, openCap } from '../../money/caps.ts'
import { answerEstimate, DRY_RUN_ANSWER } from '../../money/routes/dry-runs.ts'
import { recordAudit } from '../../organisation/store/audit.ts'
import { countRunning, warnOfNoActions } from '../../runs/arrivals.ts'
import { sheetOfPath, SheetParams } from '../../sheets/routes/workflows/resources.ts'
import { nameInRows, warnOfMismatches, warnOfNormalized } from '../../sheets/rows/value-warnings.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import { IMPORT_JOB } from '../imports/import-job.ts'
import { countImportedRows } from '../imports/import-source.ts'
import { findFile, useFile } from '../store/files.ts'
import { findLatestImport, insertImport, type MappedColumn } from '../store/imports.ts'
import { UPLOAD, UPLOAD_DAYS } from '../uploads.ts'

const PATH = '/workflows/:workflow_id/sheets/:sheet_id/csv'
const tags = ['Rows']

export function importRoutes(api: Api, services: RouteServices): void {
  defineStart(api, services)
  defineStatus(api)
}

function defineStart(api: Api, services: RouteServices): void {
  api.post(
    PATH,
    {
      config: {
        scope: 'workflows:data:write',
        body: 'document',
        resource: sheetOfPath,
        furtherErrors: listMappingErrors,
        spends: true,
      },
      schema: {
        tags,
        summary: 'Import a CSV or XLSX file that was uploaded',
        params: SheetParams,
        body: ImportBody,
        response: { 200: DRY_RUN_ANSWER, 202: success(202, StartedImport) },
      },
    },
    async (request) => {
      const { db, caller, sheet, body } = request
      const { file_ref, mapping, run_after_import } = body
      if (run_after_import !== 'none' && !caller.scopes.has('workflows:run')) {
        throw new AppError(
          'INSUFFICIENT_SCOPE',
          'This key lacks the scope workflows:run, which run_after_import needs',
        )
      }
      const isUploaded = await isOwnUpload(services, caller.orgId, file_ref)
      const definition = await getDefinition(db, sheet)
      const { inputs } = definition
      const errors = checkMapping(mapping, inputs)
      if (!isUploaded) errors.unshift({ field: 'file_ref', message: ABSENT })
      if (errors.length > 0) throw validationError(errors)
      const columns = toMappedColumns(mapping, inputs)
      request.warnings.push(...warnOfNoActions('run_after_import', run_after_import, definition))
      if (body.dry_run === true) return estimateImport(request, services, { ...body, definition, columns })
      await inTransaction(db, (trx) => startImport(trx, request, body, columns))
      return accepted({
        status: 'processing' as const,
        sheet_id: sheet.sheet_id,
        columns_mapped: columns.length,
      })
    },
  )
}

function defineStatus(api: Api): void {
  api.get(
    PATH,
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: {
        tags,
        summary: 'Get the status of the latest import of a sheet; kept for 24 hours after its end',
        params: SheetParams,
        response: { 200: success(200, ImportStatus) },
      },
    },
    async ({ db, sheet }) => {
      const found = await findLatestImport(db, sheet)
      if (found === undefined) return ok({ status: 'unknown' as const, rows_imported: 0 })
      const { status, rows_imported, mismatches, normalized, error } = found
      const answer = { status, rows_imported, ...(error === null ? {} : { error }) }
      const warnings = [
        ...warnOfNormalized(normalized),
        ...warnOfMismatches(mismatches, nameInRows, 'imported'),
      ]
      return warnings.length === 0 ? ok(answer) : ok(answer, { warnings })
    },
  )
}

/** Returns false for an unknown file. Throws a 403 for a file of another organisation. */
async function isOwnUpload({ store }: RouteServices, orgId: string, fileRef: string): Promise<boolean> {
  // Uses the system connection: row-level security would hide that the file belongs to another organisation.
  const file = await findFile(store.system, UPLOAD, fileRef)
  if (file !== undefined && file.org_id !== orgId) {
    throw forbidden('This file belongs to another organisation')
  }
  return file !== undefined
}

type Wanted = z.output<typeof ImportBody>

/** Estimates the cost of the rows that an import would run. */
async function estimateImport(
  request: FastifyRequest,
  services: RouteServices,
  wanted: Wanted & { definition: Definition; columns: MappedColumn[] },
) {
  const { caller, sheet } = request
  const { file_ref, sheet_name, run_after_import, max_credits, definition, columns } = wanted
  await giveKeyBack(request)
  const found = { org_id: caller.orgId, file_ref, sheet_name: sheet_name ?? null, mapping: columns }
  const isRun = countRunning(sheet, run_after_import, { rows: 1 }) > 0 && definition.actions.length > 0
  const rows = isRun ? await countImportedRows(services, found) : 0
  const trigger = run_after_import === 'none' ? 'auto_run' : 'api'
  return answerEstimate(
    request,
    services,
    { maxCredits: max_credits, trigger },
    {
      sheet,
      definition,
      actions: definition.actions.map(({ id }) => id),
      rows: { kind: 'new', count: countRunning(sheet, run_after_import, { rows }) },
      exact: false,
    },
  )
}

async function startImport(
  trx: Db,
  { caller, sheet }: Pick<FastifyRequest, 'caller' | 'sheet'>,
  { file_ref, sheet_name, run_after_import, max_credits }: Wanted,
  mapping: MappedColumn[],
): Promise<void> {
  const key = { org_id: caller.orgId, file_ref }
  if (!(await useFile(trx, key, UPLOAD_DAYS))) throw invalid('file_ref', ABSENT)
  const import_id = await insertImport(trx, {
    ...key,
    sheet_id: sheet.sheet_id,
    sheet_name: sheet_name ?? null,
    mapping,
    run_after: run_after_import,
    created_by: caller.email,
    key_id: caller.keyId,
    cap_purse_id: await openCap(trx, caller.orgId, toCap(max_credits).cap),
  })
  if (import_id === null) throw new AppError('Conflict', BUSY)
  await addLongJob(trx, { lanes: 'imports', name: IMPORT_JOB }, { org_id: caller.orgId, import_id })
  await recordAudit(trx, caller.orgId, caller, {
    action: 'import.started',
    target: sheet.sheet_id,
    details: { import_id, file_ref },
  })
}

const ABSENT =
  'is not a file of your organisation; upload it with POST /files or `loam file put` (files expire after 7 days unused)'
const BUSY = 'An import is under way on this sheet; wait until its status is no longer processing'

type MappingBody = Record<string, string>

/** Checks a mapping. Targets must be inputs of the sheet by their exact names, and none may appear twice. */
function checkMapping(mapping: MappingBody, inputs: readonly InputColumn[]): FieldError[] {
  const taken = new Map<string, string>()
  const hint = createHints(inputs.map((input) => input.name))
  return Object.entries(mapping).flatMap(([header, name]) => {
    const field = `mapping.${header}`
    const earlier = taken.get(name)
    taken.set(name, earlier ?? header)
    if (!inputs.some((input) => input.name === name)) {
      return [{ field, message: `the sheet has no input named "${name}"${hint(name)}` }]
    }
    return earlier === undefined
      ? []
      : [{ field, message: `the column "${earlier}" is already mapped to the input "${name}"` }]
  })
}

/** Reports the errors of the mapping also if something else in the body was refused (D5). */
async function listMappingErrors({ db, sheet, body }: FastifyRequest): Promise<FieldError[]> {
  const mapping = Mapping.safeParse(
    typeof body === 'object' && body !== null && 'mapping' in body ? body.mapping : undefined,
  )
  return mapping.success ? checkMapping(mapping.data, (await getDefinition(db, sheet)).inputs) : []
}

function toMappedColumns(mapping: MappingBody, inputs: readonly InputColumn[]): MappedColumn[] {
  return Object.entries(mapping).flatMap(([header, name]) => {
    const input = inputs.find((one) => one.name === name)
    if (input === undefined) return []
    const { column, type, choices } = input
    return [{ header, column, name: input.name, type, ...(choices === undefined ? {} : { choices }) }]
  })
}
