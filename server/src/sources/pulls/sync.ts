import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { InputColumn } from '../../catalog/chain/definition.ts'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { validationError } from '../../lib/errors.ts'
import { toMillis } from '../../money/caps.ts'
import { type Actor, recordAudit } from '../../organisation/store/audit.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import type { Source } from '../define.ts'
import { readStored } from '../request.ts'
import { listFieldNames } from '../store/source-records.ts'
import { lockSync, type MappedField, type OnChange, putSync } from '../store/source-syncs.ts'
import type { SourceRecord } from '../store/sources.ts'
import { queueDelivery } from './jobs.ts'
import { replaceMapping } from './mapped-fields.ts'

export type SyncRequest = {
  fieldMapping: Record<string, string>
  pushExisting: boolean
  onChange: OnChange
  maxCredits: number | undefined
}

type Ends = { record: SourceRecord; source: Source | undefined; sheet: SheetRecord }

/** Returns the stored mapping of a sync. A 400 lists all its errors. */
export async function checkSync(
  db: Db,
  { record, source, sheet }: Ends,
  fieldMapping: Record<string, string>,
): Promise<{ mapping: MappedField[]; warnings: Warning[] }> {
  const { inputs } = await getDefinition(db, sheet)
  const stored = source === undefined ? null : readStored(source, record.body)
  const fields = stored?.ok === true ? (source?.fieldsOf(stored.body) ?? null) : null
  const mapping = readMapping(fieldMapping, inputs, fields)
  return fields === null ? awaitUnknown(db, record, mapping) : { mapping, warnings: [] }
}

/**
 * Connects a source with the main sheet of a workflow. Each pair has one sync: a second one replaces the mapping (D49).
 */
export async function syncSource(
  db: Db,
  actor: Actor,
  { record, source, sheet }: Ends,
  { fieldMapping, pushExisting, onChange, maxCredits }: SyncRequest,
): Promise<{ mapped: number; warnings: Warning[] }> {
  const { org_id, instance_id } = record
  const { workflow_id } = sheet
  const { mapping, warnings } = await checkSync(db, { record, source, sheet }, fieldMapping)
  await inTransaction(db, async (trx) => {
    const sync = { org_id, instance_id, workflow_id }
    const former = await lockSync(trx, sync)
    await putSync(trx, {
      ...sync,
      mapping: replaceMapping(mapping, former?.mapping),
      push_existing: pushExisting,
      on_change: onChange,
      created_by: actor.email,
      max_credits_millis: maxCredits === undefined ? null : toMillis(maxCredits),
    })
    const details = { workflow_id, push_existing: pushExisting, on_change: onChange, fields: fieldMapping }
    await recordAudit(trx, org_id, actor, { action: 'source.synced', target: instance_id, details })
    await queueDelivery(trx, sync)
  })
  return { mapped: mapping.length, warnings }
}

/** Returns the name in `input.<name>` or `{{input.<name>}}`, or undefined. */
function readInputName(reference: string): string | undefined {
  const isToken = reference.startsWith('{{') && reference.endsWith('}}')
  const text = isToken ? reference.slice(2, -2).trim() : reference
  return text.startsWith(INPUT) && text.length > INPUT.length ? text.slice(INPUT.length) : undefined
}

const INPUT = 'input.'

/**
 * Returns an error that lists the existing fields. The values of a mapping are field names as previews show them, never
 * paths.
 */
const describeMissingField = (field: string, fields: readonly string[]) =>
  `the source has no field "${field}"; it has: ${fields.join(', ')}`

/** Parses a mapping and reports all its errors at once. */
function readMapping(
  given: Record<string, string>,
  inputs: readonly InputColumn[],
  fields: readonly string[] | null,
): MappedField[] {
  const errors: FieldError[] = []
  const mapping = new Map<number, MappedField>()
  const entries = Object.entries(given)
  if (entries.length === 0) errors.push({ field: 'field_mapping', message: 'must map at least one input' })
  for (const [key, field] of entries) {
    const at = `field_mapping.${key}`
    const name = readInputName(key)
    const input = inputs.find((one) => one.name === name)
    if (input === undefined) {
      errors.push({ field: at, message: describeUnknownInput(name, inputs) })
      continue
    }
    if (mapping.has(input.column))
      errors.push({ field: at, message: `maps the input ${input.name} a second time` })
    if (fields !== null && !fields.includes(field)) {
      errors.push({ field: at, message: describeMissingField(field, fields) })
    }
    mapping.set(input.column, { input: input.name, column: input.column, field })
  }
  if (errors.length > 0) throw validationError(errors)
  return [...mapping.values()]
}

const MAX_NAMED = 20

function describeUnknownInput(name: string | undefined, inputs: readonly InputColumn[]): string {
  const all = inputs.slice(0, MAX_NAMED).map((input) => `input.${input.name}`)
  const there = inputs.length === 0 ? 'the workflow has no inputs yet' : `the workflow has: ${all.join(', ')}`
  return name === undefined
    ? `must be a reference to an input, such as input.<name>; ${there}`
    : `matches no input; names are case-sensitive; ${there}`
}

/**
 * Marks unknown fields as awaited if only records show the fields. Nothing is delivered until a record has them (D89).
 */
async function awaitUnknown(
  db: Db,
  record: SourceRecord,
  mapping: readonly MappedField[],
): Promise<{ mapping: MappedField[]; warnings: Warning[] }> {
  const known = await listFieldNames(db, record)
  const isUnknown = ({ field }: MappedField) => !known.has(field)
  return {
    mapping: mapping.map((one) => (isUnknown(one) ? { ...one, absent_to: 0 } : one)),
    warnings: mapping.filter(isUnknown).map(({ input, field }) => ({
      field: `field_mapping.input.${input}`,
      code: 'unknown_field',
      message: `${describeUnknownField(field, known)}; nothing is delivered until a record has it`,
    })),
  }
}

function describeUnknownField(field: string, known: ReadonlySet<string>): string {
  if (known.size === 0) return `no record has been imported yet that could have the field "${field}"`
  const names = [...known].sort()
  const there = `they have: ${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ', ...' : ''}`
  const outer = names.find((name) => field.startsWith(`${name}.`) || field.startsWith(`${name}[`))
  return outer === undefined
    ? `none of the latest records has the field "${field}"; ${there}`
    : `"${field}" is a path into the field ${outer}; map the field itself, whole; ${there}`
}
