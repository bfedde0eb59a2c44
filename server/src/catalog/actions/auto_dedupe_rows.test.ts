import { expect, it } from 'vitest'
import { useActions } from '../testing/run-action.ts'
import { createSheets } from '../testing/sheets.ts'

const runAction = useActions()

type Row = Record<string, unknown>

/** Runs the rows of a sheet in order and returns the kind that each is found to be. */
async function dedupe(inputs: Row, rows: Row[]) {
  const sheets = createSheets({})
  const kinds: unknown[] = []
  for (const input of rows) {
    const outcome = await runAction('auto_dedupe_rows', inputs, { row: { input }, sheets })
    kinds.push(outcome.kind === 'done' ? outcome.outputs['value_type'] : outcome)
  }
  return { kinds, removals: sheets.removals }
}

const rows = [{ domain: 'a.com' }, { domain: 'A.com' }, { domain: 'a.com' }]

it.each([['domain'], [' domain '], [['domain']], ['{{input.domain}}'], [['{{input.domain}}']]])(
  'auto_dedupe_columns takes a token or a bare column name (D65): %j',
  async (columns) => {
    const { kinds, removals } = await dedupe({ auto_dedupe_columns: columns }, rows)
    expect(kinds).toEqual(['unique', 'unique', 'duplicate'])
    expect(removals).toBe(0)
  },
)

it('ignore_case compares without regard to case', async () => {
  const { kinds } = await dedupe({ auto_dedupe_columns: ['domain'], ignore_case: true }, rows)
  expect(kinds).toEqual(['unique', 'duplicate', 'duplicate'])
})

it('delete_duplicate removes the duplicates and no other row', async () => {
  const inputs = { auto_dedupe_columns: ['domain'], select_dedupe_action: 'delete_duplicate' }
  expect(await dedupe(inputs, rows)).toEqual({ kinds: ['unique', 'unique', 'duplicate'], removals: 1 })
})

it('several columns are compared together, each one separately from the next', async () => {
  const { kinds } = await dedupe({ auto_dedupe_columns: ['a', '{{input.b}}'] }, [
    { a: 'x', b: 'yz' },
    { a: 'xy', b: 'z' },
    { a: 'x","y', b: 'z' },
    { a: 'xy', b: 'z' },
  ])
  expect(kinds).toEqual(['unique', 'unique', 'unique', 'duplicate'])
})

it('rows without any value are not duplicates of each other', async () => {
  const { kinds } = await dedupe({ auto_dedupe_columns: ['a', 'b'] }, [
    { a: null, b: '' },
    { a: '', b: null },
    { a: '', b: 'x' },
    { a: '', b: 'x' },
  ])
  expect(kinds).toEqual(['unique', 'unique', 'unique', 'duplicate'])
})

it('names like inputs with dots and blanks are bare names too; an unknown one cannot be run', async () => {
  const { kinds } = await dedupe({ auto_dedupe_columns: ['First Name', 'a.b'] }, [
    { 'First Name': 'Ann', 'a.b': 1 },
  ])
  expect(kinds).toEqual(['unique'])
  const unknown = await dedupe({ auto_dedupe_columns: ['gone'] }, [{ domain: 'a.com' }])
  expect(unknown.kinds).toEqual([{ kind: 'unrunnable', message: '{{input.gone}} does not exist' }])
})

it.each([['{{domain}}'], [['']], [[5]], [{}]])(
  'columns %j would be the same for every row: refused',
  async (columns) => {
    await expect(dedupe({ auto_dedupe_columns: columns }, rows)).rejects.toThrow(
      'must be a token or the name of an input',
    )
  },
)

it('without columns it cannot be run', async () => {
  const { kinds } = await dedupe({ auto_dedupe_columns: [] }, [{ a: 1 }])
  expect(kinds).toEqual([{ kind: 'unrunnable', message: 'required and empty: auto_dedupe_columns' }])
})
