// Measures M3: an estimate of a large sheet with three actions and a cache against a page of 200 of List
// Rows, and an estimate of a selection against List Rows with the same selection, through the public API of a
// real server. They are measured in turns, so that a noisy moment affects both.
// npm run bench:estimates [-- --rows 1000000 --rounds 9]
import { parseArgs } from 'node:util'
import { ACTION, makeLargeSheet } from '#test/builders/large-sheet.ts'
import { callOver } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { bar, median, note, print } from './parts/report.ts'

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '9' } },
})
const PAGE = { page_no: 1, page_size: 200 }
/** The number of rows per page that the dashboard reads. */
const READ = 100
const filters = [{ variable: '{{input.industry}}', operator: 'is equal to', values: ['energy'] }]
const complete = [{ action_instance_id: ACTION, is: ['complete'] }]
const failed = [{ action_instance_id: ACTION, is: ['failed'] }]
/** The actions that people add next and ask the price of, beside the action that is complete on all rows. */
const UNRUN = [
  {
    action_id: 'person_work_email_waterfall',
    inputs: { full_name: '{{input.company}}', company_domain: '{{input.domain}}' },
  },
  { action_id: 'http_api_call', inputs: { url: 'https://{{input.domain}}/about' } },
]
/** The cases: the estimate, the list to compare it with, and how many times as long the estimate may take. */
const CASES: [name: string, estimate: object, list: object, most: number][] = [
  ['all rows', { all: true }, PAGE, 10],
  ['rows that are not there yet', { new_rows: 1_000_000 }, PAGE, 10],
  ['filters on an input', { filters }, { ...PAGE, filters }, 5],
  ['cells that are complete', { status_filters: complete }, { ...PAGE, status_filters: complete }, 5],
  ['cells that failed', { status_filters: failed }, { ...PAGE, status_filters: failed }, 5],
]

const installation = await openInstallation()
const { orgId, key } = await installation.makeOrg('Bench', 1_000_000)
const server = await installation.startServer()
const call = callOver(server.url, key)
try {
  note(`a sheet of ${values.rows} rows is made`)
  const { base } = await makeLargeSheet(installation.store, call, orgId, Number(values.rows), {
    unrun: UNRUN,
  })
  await call('PATCH', base, { cache_enabled: true })
  const time = async (path: string, body: object) => {
    const started = performance.now()
    await call('POST', `${base}${path}`, body)
    return performance.now() - started
  }
  for (const [name, estimate, list, most] of CASES) {
    const rounds: [number, number, number][] = []
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      const [ours, page] = [await time('/estimate', estimate), await time('/rows/list', list)]
      const read = await time('/rows/list', { ...list, page_size: READ })
      // The first round warms up.
      if (round > 0) rounds.push([ours, page, read])
    }
    print(`M3: ${name}, ${values.rows} rows`, [
      { what: 'estimate', ms: median(rounds.map(([ours]) => ours)).toFixed(1) },
      { what: 'List Rows, a page of 200', ms: median(rounds.map(([, page]) => page)).toFixed(1) },
      { what: `List Rows, a page of ${READ}`, ms: median(rounds.map(([, , read]) => read)).toFixed(1) },
    ])
    bar(`M3 (${name})`, median(rounds.map(([ours, page]) => ours / page)), most, 'at most')
  }
} finally {
  await installation.close()
}
