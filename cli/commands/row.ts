import type { Command } from 'commander'
import { z } from 'zod'
import { MAX_SORT_COLUMNS, Sort, trimVariable } from '#contract/columns.ts'
import { Uuid } from '#contract/envelope.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '#contract/rows.ts'
import type { Definition } from '#server/catalog/chain/definition.ts'
import { type ChainView, viewChain } from '#server/catalog/configuration/chain-view.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { type Db, inTransaction } from '#server/database/connection/db.ts'
import { invalid, validationError } from '#server/lib/errors.ts'
import { plural } from '#server/lib/plural.ts'
import { isEmptySelection, toSelection, toSortKeys, withinView } from '#server/sheets/rows/selections.ts'
import { findUnknownNames } from '#server/sheets/rows/unknown-names.ts'
import { createRowWriter } from '#server/sheets/rows/view.ts'
import { listDiscoveredOutputs } from '#server/sheets/store/action-outputs.ts'
import { listPageCells } from '#server/sheets/store/cells.ts'
import { getDefinition } from '#server/sheets/store/definitions.ts'
import { listMatching, sortMatching } from '#server/sheets/store/matching-rows.ts'
import { listOrdered } from '#server/sheets/store/row-orders.ts'
import { listPage, type Page } from '#server/sheets/store/rows.ts'
import type { SheetRecord } from '#server/sheets/store/sheets.ts'
import { findView, type ViewRecord } from '#server/sheets/store/views.ts'
import { findGoneParts } from '#server/sheets/views.ts'
import { examples } from '../flags.ts'
import { formatTable } from '../output.ts'
import { inSession } from '../session.ts'
import { requireSheet, SHEET, SHEET_FLAGS, SHEET_ORG } from '../sheet.ts'

const wholeNumber = (most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= 1 && n <= most, `must be between 1 and ${most}`)

const ListFlags = z.strictObject({
  ...SHEET_FLAGS,
  view: Uuid.exactOptional(),
  sort: z.string().exactOptional(),
  page: wholeNumber(1_000_000_000).exactOptional(),
  pageSize: wholeNumber(MAX_PAGE_SIZE).exactOptional(),
})

export function define(row: Command): void {
  row.addHelpText('after', examples('loam row list --sheet <sheet_id> --sort input.employees:desc'))
  row
    .command('list')
    .description('List the rows of a sheet, in the order of columns or of a view')
    .requiredOption(...SHEET)
    .option('--view <view_id>', 'the rows of a view, in its order')
    .option(
      '--sort <columns>',
      `up to ${MAX_SORT_COLUMNS} columns, separated by commas: input.<name>, <action_instance_id>.<output>, <action_instance_id> for its status, or created_at; each with :desc or :asc`,
    )
    .option('--page <number>', 'the page (default 1)')
    .option('--page-size <number>', `rows of a page (default ${DEFAULT_PAGE_SIZE}, at most ${MAX_PAGE_SIZE})`)
    .option(...SHEET_ORG)
    .addHelpText(
      'after',
      examples(
        'loam row list --sheet <sheet_id> --sort input.employees:desc,created_at',
        'loam row list --sheet <sheet_id> --view <view_id> --json',
      ),
    )
    .action(
      inSession(ListFlags, async ({ db }, flags) => {
        const sheet = await requireSheet(db, flags)
        const definition = await getDefinition(db, sheet)
        const chain = viewChain(definition, await loadCatalogue(), await listDiscoveredOutputs(db, sheet))
        const { page = 1, pageSize = DEFAULT_PAGE_SIZE, view, sort } = flags
        const paging = { offset: (page - 1) * pageSize, limit: pageSize }
        const found = await readRows(db, { sheet, chain, sort: readSort(sort, chain), viewId: view }, paging)
        const data = { rows: await viewRows(db, sheet, definition, found), total_count: found.total }
        return { data, text: () => formatRows(data, definition) }
      }),
    )
}

type Listed = { rows: ShownRow[]; total_count: number }
type ShownRow = { row_id: string; row_status: string; inputs: Record<string, unknown> }

/** Reads the columns of `--sort`. */
function readSort(text: string | undefined, chain: ChainView): Sort | undefined {
  if (text === undefined) return undefined
  const sort = text.split(',').map((part) => {
    const text = part.trim()
    const direction = ['asc', 'desc'].find((one) => text.endsWith(`:${one}`))
    const name = direction === undefined ? text : text.slice(0, -direction.length - 1)
    const plain = name.startsWith('{{') ? trimVariable(name) : name
    if (plain === 'created_at') return { field: plain, direction }
    return plain.includes('.')
      ? { variable: `{{${plain}}}`, direction }
      : { action_instance_id: plain, direction }
  })
  const read = Sort.safeParse(sort)
  if (!read.success) throw invalid('--sort', read.error.issues[0]?.message ?? 'cannot be read')
  const errors = findUnknownNames({ sort: read.data }, chain)
  if (errors.length > 0) throw validationError(errors.map(({ message }) => ({ field: '--sort', message })))
  return read.data
}

type Asked = { sheet: SheetRecord; chain: ChainView; sort: Sort | undefined; viewId: string | undefined }

async function readRows(
  db: Db,
  { sheet, chain, sort: given, viewId }: Asked,
  paging: { offset: number; limit: number },
): Promise<Page> {
  const view = viewId === undefined ? undefined : await requireView(db, sheet, viewId, chain)
  const all = toSelection({}, chain)
  const selection = view === undefined ? all : withinView(all, view.settings, chain)
  const sort = toSortKeys(given ?? view?.settings.sort ?? [], chain)
  if (sort.length > 0) {
    const order = await inTransaction(db, (trx) => sortMatching(trx, sheet, selection, { sort }))
    return listOrdered(db, sheet, order, paging)
  }
  return isEmptySelection(selection)
    ? listPage(db, sheet, paging.offset, paging.limit)
    : listMatching(db, sheet, selection, paging)
}

async function requireView(
  db: Db,
  sheet: SheetRecord,
  viewId: string,
  chain: ChainView,
): Promise<ViewRecord> {
  const view = await findView(db, sheet, viewId)
  if (view === undefined) throw invalid('--view', 'is not a view of this sheet')
  const gone = findGoneParts(view, chain)
  if (gone !== undefined) throw gone
  return view
}

/** Returns the rows as List Rows answers them. Large outputs are named by the path of their cell. */
async function viewRows(db: Db, sheet: SheetRecord, definition: Definition, page: Page): Promise<ShownRow[]> {
  const { org_id, workflow_id, sheet_id } = sheet
  const base = `/api/v1/workflows/${workflow_id}/sheets/${sheet_id}/rows`
  const cells = await listPageCells(db, org_id, page.rows, (row, action) => `${base}/${row}/cells/${action}`)
  const write = createRowWriter(definition)
  return page.rows.map((row) => JSON.parse(write(row, cells.get(row.row_id))) as ShownRow)
}

const MAX_SHOWN = 40

function formatRows({ rows, total_count }: Listed, { inputs }: Definition): string {
  const names = inputs.map(({ name }) => name)
  const textOf = (value: unknown) => {
    const text = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
    return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1).toWellFormed()}…`
  }
  const lines = rows.map((row) => [
    row.row_id,
    row.row_status,
    ...names.map((name) => textOf(row.inputs[name])),
  ])
  const table = formatTable(['ROW', 'STATUS', ...names], lines, 'No rows.')
  return `${table}\n\n${plural(total_count, 'row')} in all.`
}
