import { existsSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { writeBackup } from '#server/database/backup/backup.ts'
import { invalid } from '#server/lib/errors.ts'
import { loadSecret } from '#server/process/workspace.ts'
import { examples } from '../flags.ts'
import { formatDetails, createProgress } from '../output.ts'
import { inSession } from '../session.ts'

const Flags = z.strictObject({ file: z.string().min(1, 'must name a file') })

export function define(command: Command): void {
  command
    .argument('<file>', 'archive to write; it must not exist yet')
    .description(
      'Write the database as of one moment, uploaded files and the secret into one archive, while the server runs. ' +
        'The archive contains everything in readable form; the file is readable only by you.',
    )
    .addHelpText('after', examples('loam backup loam-2030-01-31.tar.gz'))
    .action(
      inSession(Flags, async ({ config, databaseUrl, storage, terminal }, { file }) => {
        if (!existsSync(dirname(resolve(file)))) throw invalid('file', `${dirname(file)} is not a folder`)
        const keyFile = join(config.LOAM_DATA_DIR, 'admin-key')
        const bucket = config.LOAM_S3_BUCKET
        const totals = await writeBackup(file, {
          databaseUrl,
          storage: bucket === undefined ? storage : null,
          secret: loadSecret(config),
          adminKey: existsSync(keyFile) ? readFileSync(keyFile, 'utf8') : null,
          progress: createProgress('backup', terminal),
        })
        const size_bytes = (await stat(file)).size
        return {
          data: { file: resolve(file), size_bytes, ...totals },
          text: () =>
            formatDetails(`Wrote ${file}`, [
              ['size', `${size_bytes} bytes`],
              ['rows', `${totals.rows}, in all tables`],
              [
                'files',
                bucket === undefined ? String(totals.files) : `none: they stay in the bucket ${bucket}`,
              ],
              ['secret', 'included: keep the archive as safe as your passwords'],
            ]),
        }
      }),
    )
}
