import { isObject } from '../../lib/json/object.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, wait } from '../outcome.ts'
import { output } from '../outputs.ts'

/** The pause before the next look, while earlier rows are being compared or may still get the same values. */
const LOOK_AGAIN_MS = 250
/** The longest wait for an earlier row, which may be parked for days before it reaches this action. */
const LONGEST_WAIT_MS = 600_000
const MAX_LOOKS = LONGEST_WAIT_MS / LOOK_AGAIN_MS

/**
 * Returns how often the row has looked. Looks are counted, not timed, because each may be in a process with another
 * clock.
 */
function readLooks(state: unknown): number {
  const looks = isObject(state) ? state['looks'] : undefined
  return typeof looks === 'number' ? looks : 0
}

export default defineAction({
  id: 'auto_dedupe_rows',
  name: 'Dedupe rows',
  description:
    'Keeps the first row with the same values and marks or deletes the others, in whatever order they run. Rows without values are unique.',
  category: 'flow',
  synonyms: ['deduplicate', 'duplicates', 'unique', 'remove duplicates'],
  credits: 0,
  cached: false,
  inputs: {
    auto_dedupe_columns: field.columns({
      required: true,
      label: 'Columns to compare',
      help: 'Rows are duplicates if all of these are the same.',
      details: 'Takes tokens or names of inputs.',
    }),
    select_dedupe_action: field.choice(['mark_as_duplicate', 'delete_duplicate'], {
      default: 'mark_as_duplicate',
      labels: { mark_as_duplicate: 'Mark them', delete_duplicate: 'Delete the rows' },
      label: 'What to do with duplicates',
      help: 'Mark them in this column, or delete the rows.',
      details: 'One of `mark_as_duplicate` (default) and `delete_duplicate`.',
    }),
    ignore_case: field.toggle({
      label: 'Ignore upper and lower case',
      help: 'ACME and Acme are then the same.',
      advanced: true,
    }),
  },
  outputs: { value_type: output.text('unique or duplicate.') },
  async run({ inputs, context }) {
    const { ignore_case: ignoreCase, auto_dedupe_columns: columns } = inputs
    if (columns.texts.every((text) => text === '')) return done({ value_type: 'unique' })
    const looks = readLooks(context.state)
    const waitedEnough = looks > MAX_LOOKS
    const value_type = await context.sheets.judgeUnique({ ...columns, ignoreCase, waitedEnough })
    if (value_type === 'unknown yet') return wait(LOOK_AGAIN_MS, { looks: looks + 1 })
    const removes = inputs.select_dedupe_action === 'delete_duplicate'
    if (removes && value_type === 'duplicate') await context.sheets.deleteThisRow()
    return done({ value_type })
  },
})
