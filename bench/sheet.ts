// Measures the sheet as a table (G2, G3, G5, G6): sorts, further pages, filters over outputs, groups and statistics, through the public API
// of a real server, beside the same in bare SQL on the same PostgreSQL.
// npm run bench:sheet [-- --rows 1000000]
import { parseArgs } from 'node:util'
import { callOver, makeSheet } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { bar, median, note, print } from './parts/report.ts'

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } })
const total = Number(values.rows)
const ACTIONS = 5
const INPUTS = Array.from({ length: 10 }, (_, n) => `c${n + 1}`)
const CHUNK = 50_000
const ROUNDS = 3

const ROWS = `
  insert into rows (org_id, sheet_id, row_id, seq, data)
  select $1, $2, (lpad(to_hex(n + 1700000000000), 12, '0') || '70008000000000000000')::uuid, n,
    jsonb_build_object('1', 'Company ' || n, '2', md5(n::text), '3', (array['software', 'retail', 'energy'])[n % 3 + 1],
      '4', (n * 7919 % 100003)::text, '5', 'A line of text about row ' || n, '6', (n % 77)::text, '7', '2024-01-' || n % 28 + 1,
      '8', 'x', '9', md5((n + 1)::text), '10', 'company-' || n || '.example.com')
  from generate_series($3::bigint, $4::bigint) n`
const CELLS = `
  insert into cells (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts, credits_millis, cached, started_at)
  select org_id, sheet_id, row_id, 'split_full_name_' || a, 'complete',
    jsonb_build_object('first', 'Ada' || seq % 5000, 'last', 'Lovelace'), row_id, 2, 1, 0, false, now()
  from rows, generate_series(1, $5::int) a where org_id = $1 and sheet_id = $2 and seq between $3 and $4`

const installation = await openInstallation()
try {
  const { orgId, key } = await installation.makeOrg('Bench')
  const server = await installation.startServer()
  const call = callOver(server.url, key)
  const step = { action_id: 'split_full_name', inputs: { value: '{{input.c1}}' } }
  const base = await makeSheet(
    call,
    INPUTS,
    Array.from({ length: ACTIONS }, () => step),
  )
  await fill(orgId, base.split('/')[2] ?? '')
  const list = (body: object) => call('POST', `${base}/rows/list`, { page_size: 200, ...body })

  const unsorted = await time(() => list({ page_no: 100 }))
  const results: Record<string, unknown>[] = []
  for (const [what, variable, key] of [
    ['text', '{{input.c1}}', `data ->> '1' collate loam_text`],
    ['number', '{{input.c4}}', `(data ->> '4')::numeric`],
    ['output', '{{split_full_name_3.first}}', undefined],
  ] as const) {
    let order = ''
    const first = await time(async () => {
      order = (await list({ sort: [{ variable }] })).data.order_id
    })
    const further = await time(() =>
      list({ sort: undefined, order_id: order, page_no: 2500, page_size: 200 }),
    )
    const bare = key === undefined ? Number.NaN : await time(() => sortBare(orgId, key))
    results.push({
      sort: what,
      'first page': seconds(first),
      'bare SQL': seconds(bare),
      'further page': seconds(further),
    })
    if (what !== 'output') bar(`G3 first page by ${what}, s`, first / 1000, 2.5, 'at most')
    bar(`G3 further page by ${what}, times an unsorted one`, further / unsorted, 3, 'at most')
  }
  print(`G3: sorts of ${total} rows, seconds (an unsorted page: ${seconds(unsorted)})`, results)

  const filters = [{ variable: '{{split_full_name_3.first}}', operator: 'is equal to', values: ['Ada77'] }]
  let answer: { looked_at?: number; precision?: string } = {}
  const filtered = await time(async () => {
    answer = (await list({ filters })).data
  })
  print('G2: a filter over outputs', [
    { 'first page': seconds(filtered), precision: answer.precision, 'looked at': answer.looked_at },
  ])
  bar('G2 first page, s', filtered / 1000, 3, 'at most')

  const groups: Record<string, unknown>[] = []
  for (const [what, column, bare] of [
    [
      'an input',
      { variable: '{{input.c3}}' },
      `select data ->> '3', count(*) from rows where org_id = $1 group by 1`,
    ],
    [
      'an input, all different',
      { variable: '{{input.c2}}' },
      `select data ->> '2', count(*) from rows where org_id = $1 group by 1 order by 2 desc, 1 limit 1000`,
    ],
    [
      'an output',
      { variable: '{{split_full_name_3.first}}' },
      `select c.outputs ->> 'first', count(*) from rows r left join cells c on c.org_id = r.org_id and c.row_id = r.row_id
        and c.action = 'split_full_name_3' where r.org_id = $1 group by 1 order by 2 desc, 1 limit 1000`,
    ],
  ] as const) {
    const grouped = await time(() => call('POST', `${base}/rows/groups`, { by: [column] }))
    const alone = await time(() => installation.store.query({ text: bare, values: [orgId] }))
    groups.push({ by: what, groups: seconds(grouped), 'bare SQL': seconds(alone) })
    bar(`G5 groups by ${what}, s`, grouped / 1000, 3, 'at most')
  }
  print(`G5: groups of ${total} rows, seconds`, groups)
  const columns = INPUTS.map((name) => ({ variable: `{{input.${name}}}` }))
  const counted = await time(() => call('POST', `${base}/rows/statistics`, { columns }))
  bar(`G6 statistics of ${columns.length} columns, s`, counted / 1000, 1, 'at most')
} finally {
  await installation.close()
}

async function fill(orgId: string, sheetId: string): Promise<void> {
  const { store } = installation
  for (let from = 1; from <= total; from += CHUNK) {
    const to = Math.min(total, from + CHUNK - 1)
    await store.query({ text: ROWS, values: [orgId, sheetId, from, to] })
    await store.query({ text: CELLS, values: [orgId, sheetId, from, to, ACTIONS] })
  }
  const counted = 'update sheet_counters set next_seq = $3 where org_id = $1 and sheet_id = $2'
  await store.query({ text: counted, values: [orgId, sheetId, total + 1] })
  for (const table of ['rows', 'cells', 'sheet_counters'])
    await store.query({ text: `analyze ${table}`, values: [] })
  note(`${total} rows with ${ACTIONS} cells each`)
}

/** Sorts the rows of the sheet in bare SQL and keeps the order in a table. */
async function sortBare(orgId: string, key: string): Promise<void> {
  const { store } = installation
  const text = `create table bare_order as select row_number() over () as n, seq from (
    select seq from rows where org_id = '${orgId}' order by ${key}, seq) sorted`
  await store.query({ text: 'drop table if exists bare_order', values: [] })
  await store.query({ text, values: [] })
}

/** Returns the median of some rounds, in milliseconds. */
async function time(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return median(times)
}

function seconds(ms: number): string {
  return Number.isNaN(ms) ? '-' : (ms / 1000).toFixed(3)
}
