import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { getExtension, explainFileName } from '#contract/imports.ts'
import { storeUpload, UPLOAD_DAYS } from '#server/files/uploads.ts'
import { invalid } from '#server/lib/errors.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { examples, KnownEmail, Org } from '../flags.ts'
import { formatDetails } from '../output.ts'
import { inSession, requireMember, resolveOrganisation } from '../session.ts'

const PutFlags = z.strictObject({
  path: z.string().refine((path) => getExtension(path) !== undefined, {
    error: ({ input }) => explainFileName(String(input), 'must be a file whose name ends in .csv or .xlsx'),
  }),
  org: Org,
  email: KnownEmail.exactOptional(),
})

export function define(file: Command): void {
  file.addHelpText('after', examples('loam file put leads.csv'))

  file
    .command('put <path>')
    .description(
      `Store a CSV or XLSX file for Import CSV; it is kept until ${UPLOAD_DAYS} days after its last use`,
    )
    .option('--org <org_id>', 'organisation; required if there are several')
    .option('--email <address>', 'the member who uploads it')
    .addHelpText('after', examples('loam file put leads.csv', 'loam file put leads.xlsx --json'))
    .action(
      inSession(PutFlags, async ({ db, storage }, { path, ...flags }) => {
        await requireFile(path)
        const organisation = await resolveOrganisation(db, flags)
        const { email } =
          flags.email === undefined ? OPERATOR : await requireMember(db, organisation, flags.email)
        const upload = { orgId: organisation.org_id, name: basename(path), createdBy: email }
        const stored = await storeUpload({ db, storage }, upload, createReadStream(path))
        return {
          data: stored,
          text: () =>
            formatDetails(`Stored ${basename(path)} for ${organisation.name}`, [
              ['file_ref', stored.file_ref],
              ['size_bytes', String(stored.size_bytes)],
            ]),
        }
      }),
    )
}

async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${cause.message}`
    throw invalid('path', `${path} ${reason}`)
  })
  if (!found.isFile()) throw invalid('path', `${path} is not a file`)
}
