import type { Command } from 'commander'
import { z } from 'zod'
import { viewSource } from '#server/sources/pulls/view.ts'
import { listRecords } from '#server/sources/store/source-records.ts'
import { listSources } from '#server/sources/store/sources.ts'
import { examples, Limit, Org } from './flags.ts'
import { inSession, resolveOrganisation } from './session.ts'
import { formatRecords, formatSources } from './source-output.ts'
import { OneSource, requireSource, showState, SOURCE, SourceId } from './source-session.ts'

export function defineReading(source: Command): void {
  source
    .command('list')
    .description('List the sources of an organisation, newest first')
    .option('--org <org_id>', 'organisation; required if there are several')
    .addHelpText('after', examples('loam source list', 'loam source list --json'))
    .action(
      inSession(z.strictObject({ org: Org }), async ({ db }, flags) => {
        const listed = await listSources(db, (await resolveOrganisation(db, flags)).org_id)
        return { data: listed.map(viewSource), text: () => formatSources(listed) }
      }),
    )

  source
    .command('show')
    .description('Show a source and its health: last pull and next, new and changed records, last error')
    .argument(...SOURCE)
    .addHelpText('after', examples('loam source show <id>'))
    .action(
      inSession(OneSource, async (session, { id }) => {
        return showState(session, await requireSource(session.db, id))
      }),
    )

  source
    .command('data')
    .description('Show records that a source has imported')
    .argument(...SOURCE)
    .option('--page-no <number>', 'number of the page', '1')
    .option('--page-size <number>', 'records a page, at most 200', '20')
    .addHelpText('after', examples('loam source data <id> --page-size 100 --json'))
    .action(
      inSession(
        z.strictObject({ id: SourceId, pageNo: Limit(1, 10_000_000), pageSize: Limit(20, 200) }),
        async ({ db }, { id, pageNo: page_no, pageSize: page_size }) => {
          const record = await requireSource(db, id)
          const rows = await listRecords(db, record, { offset: (page_no - 1) * page_size, limit: page_size })
          const data = { rows, total_count: record.lead_count, page_no, page_size }
          return { data, text: () => `${formatRecords(rows)}\n${record.lead_count} in total.` }
        },
      ),
    )
}
