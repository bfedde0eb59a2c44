import type { Command } from 'commander'
import { z } from 'zod'
import { restoreBackup } from '#server/database/backup/restore.ts'
import { readConfig } from '#server/lib/config/config.ts'
import { examples, readFlags } from '../flags.ts'
import { formatDetails, printOutput, createProgress } from '../output.ts'
import { commandEnvironment, wantsJson } from '../session.ts'
import { terminalOf } from '../terminal.ts'

const Flags = z.strictObject({
  file: z.string().min(1, 'must name a file'),
  replace: z.literal(true).exactOptional(),
})

export function define(command: Command): void {
  command
    .argument('<file>', 'archive that loam backup wrote')
    .description(
      'Restore an archive into an empty data folder, or into the empty database of DATABASE_URL. ' +
        'A restore that was killed midway can be run again. Archives of older versions are migrated.',
    )
    .option('--replace', 'first move the content of the data folder aside')
    .addHelpText(
      'after',
      examples(
        'loam restore loam-2030-01-31.tar.gz',
        'LOAM_DATA_DIR=/srv/loam loam restore loam-2030-01-31.tar.gz',
      ),
    )
    .action(async function act(this: Command) {
      const { file, replace = false } = readFlags(this, Flags)
      const terminal = terminalOf(this)
      const config = readConfig(commandEnvironment(terminal))
      const progress = createProgress('restore', terminal)
      const restored = await restoreBackup(config, { file, replace, progress })
      const moved: [string, string][] = restored.moved_to === null ? [] : [['moved', restored.moved_to]]
      const text = () =>
        formatDetails(`Restored ${file}, as of ${restored.created_at}`, [
          ['rows', `${restored.rows}, in all tables`],
          ['files', String(restored.files)],
          ...moved,
        ])
      printOutput({ data: restored, text }, terminal, wantsJson(this))
    })
}
