import type { Warning } from '#contract/envelope.ts'
import type { RejectedRow } from '#contract/rows.ts'
import { MAX_ITEMS_PER_DELIVERY } from '#contract/webhooks.ts'
import type { InputColumn } from '../../catalog/chain/definition.ts'
import { findFormerNames, nameAsNow } from '../../catalog/chain/input-renames.ts'
import { invalid, validationError } from '../../lib/errors.ts'
import { isObject } from '../../lib/json/object.ts'
import { fitRejected, nameInputs, parseRows } from './intake.ts'

/** The result of a delivery: the rows that go into the sheet, in their stored form, the rejected rows, and warnings. */
export type Delivered = { data: string[]; rejected: RejectedRow[]; warnings: Warning[] }

/** The warnings that are reported. Repeated rows are normal for senders; changes of a value are reported. */
const REPORTED_CODES = new Set(['type_mismatch', 'value_normalized'])

/**
 * Reads the body posted to a webhook: an object, or an array of objects. Keys that are no input of the sheet are ignored; an
 * item without any known key is rejected. A former name of an input counts as its name, because the sender may not know of the
 * rename. If no item is left, the whole delivery is refused.
 */
export async function readDelivery(inputs: readonly InputColumn[], body: unknown): Promise<Delivered> {
  const former = findFormerNames(inputs)
  const items = listItems(body).map((item) => nameAsNow(item, former))
  const names = new Set(inputs.map((input) => input.name))
  const known = items.map((item) => (isObject(item) ? pick(item, names) : item))
  const nameRow = (place: number) => (Array.isArray(body) ? `body[${place}]` : 'body')
  const { accepted, rejected, warnings } = await parseRows(inputs, known, { nameRow })
  const matching = accepted.filter(({ index }) => !isEmpty(known[index]))
  const unmatched = accepted.filter(({ index }) => isEmpty(known[index]))
  const refused = [
    ...rejected,
    ...unmatched.map(({ index }) => rejectUnmatched(items[index], index, inputs)),
  ].toSorted((a, b) => a.index - b.index)
  if (matching.length === 0) {
    throw validationError(
      refused.map(({ index, errors }) => ({
        field: nameRow(index),
        message: errors.map((error) => error.message).join('; '),
      })),
    )
  }
  return {
    data: matching.map((row) => row.data),
    rejected: fitRejected(refused),
    warnings: warnings.filter(({ code }) => REPORTED_CODES.has(code)),
  }
}

function listItems(body: unknown): unknown[] {
  if (body === undefined) throw invalid('body', 'required')
  if (!Array.isArray(body)) {
    if (!isObject(body)) {
      throw invalid('body', 'must be an object keyed by input name, or an array of such objects')
    }
    return [body]
  }
  if (body.length === 0) throw invalid('body', 'must be non-empty')
  if (body.length > MAX_ITEMS_PER_DELIVERY) {
    throw invalid('body', `must be at most ${MAX_ITEMS_PER_DELIVERY.toLocaleString('en-US')} items`)
  }
  return body
}

function pick(item: Record<string, unknown>, names: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name)))
}

function isEmpty(item: unknown): boolean {
  return isObject(item) && Object.keys(item).length === 0
}

function rejectUnmatched(row: unknown, index: number, inputs: readonly InputColumn[]): RejectedRow {
  const message = `none of its keys is an input of the sheet; ${nameInputs(inputs)}`
  return { row, index, errors: [{ field: '_row', code: 'no_matching_field', message }] }
}
