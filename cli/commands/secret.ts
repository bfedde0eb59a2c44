import type { Command } from 'commander'
import { z } from 'zod'
import { plural } from '#server/lib/plural.ts'
import { type ColumnStatus, readSecretStatus, rotateSecrets } from '#server/organisation/secret-rotation.ts'
import { EXIT } from '../failure.ts'
import { examples } from '../flags.ts'
import { formatTable, createProgress } from '../output.ts'
import { inSession, type Session } from '../session.ts'

const NoFlags = z.strictObject({})

export function define(secret: Command): void {
  secret.addHelpText('after', examples('loam secret status', 'loam secret rotate'))

  secret
    .command('status')
    .description(
      'Count encrypted values by the secret that encrypts them: `stale` use an older secret of LOAM_SECRET than the first, `unreadable` none of them',
    )
    .addHelpText('after', examples('loam secret status', 'loam secret status --json'))
    .action(
      inSession(NoFlags, async (session) => {
        const status = await summarize(session)
        return { data: status, text: () => format(status) }
      }),
    )

  secret
    .command('rotate')
    .description(
      'Encrypt everything again with the first secret of LOAM_SECRET, while the server runs. First start every process with ' +
        'LOAM_SECRET=new,old. An interrupted rotation can be run again and continues where it stopped.',
    )
    .addHelpText('after', examples('loam secret rotate'))
    .action(
      inSession(NoFlags, async (session) => {
        const { db, sealer, terminal } = session
        const resealed = await rotateSecrets(db, sealer, createProgress('rotate', terminal))
        const status = await summarize(session)
        return {
          ...(status.stale + status.unreadable > 0 ? { exit: EXIT.failed } : {}),
          data: { resealed, ...status },
          text: () => [`Encrypted ${plural(resealed, 'value')} again.`, format(status)].join('\n'),
        }
      }),
    )
}

type Status = {
  current_key: string
  stale: number
  unreadable: number
  values: ColumnStatus[]
}

async function summarize({ db, sealer }: Session): Promise<Status> {
  const values = await readSecretStatus(db, sealer)
  const sum = (count: (column: ColumnStatus) => number) =>
    values.reduce((total, column) => total + count(column), 0)
  return {
    current_key: sealer.keyIds[0] ?? '',
    stale: sum(({ stale }) => stale),
    unreadable: sum(({ unreadable }) => unreadable),
    values,
  }
}

function format({ current_key, stale, unreadable, values }: Status): string {
  const table = formatTable(
    ['VALUES OF', 'ALL', 'STALE', 'UNREADABLE', 'BY KEY'],
    values.map((column) => [
      `${column.table}.${column.column}`,
      String(column.values),
      String(column.stale),
      String(column.unreadable),
      Object.entries(column.keys)
        .map(([key, count]) => `${key}: ${count}`)
        .join(', '),
    ]),
    '',
  )
  return [
    table.trimEnd(),
    `The id of the current secret is ${current_key}. ${adviceOn(stale, unreadable)}`,
  ].join('\n')
}

function adviceOn(stale: number, unreadable: number): string {
  if (unreadable > 0) {
    return `${plural(unreadable, 'value')} cannot be decrypted: add the secret they were encrypted with after a comma (LOAM_SECRET=new,old), or set them again.`
  }
  return stale > 0
    ? `${plural(stale, 'value is', 'values are')}encrypted with an older secret: run loam secret rotate before you remove that secret from LOAM_SECRET.`
    : 'Everything is encrypted with the current secret: older secrets can be removed from LOAM_SECRET.'
}
