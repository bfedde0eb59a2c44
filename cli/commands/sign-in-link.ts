import type { Command } from 'commander'
import { z } from 'zod'
import { createSignInLink } from '#server/organisation/sign-in.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { LINK_MINUTES } from '#server/organisation/store/sign-in-links.ts'
import { examples, KnownEmail, Org } from '../flags.ts'
import { serverAddress } from '../server-address.ts'
import { inSession, requireMember, resolveOrganisation } from '../session.ts'

export function define(command: Command): void {
  command
    .description(
      `Create a link that signs a member in to the dashboard once, valid for ${LINK_MINUTES} minutes`,
    )
    .requiredOption('--email <address>', 'the member')
    .option('--org <org_id>', 'organisation; required if there are several')
    .addHelpText(
      'after',
      examples(
        'loam sign-in-link --email ann@example.com',
        'loam sign-in-link --email ann@example.com --json',
      ),
    )
    .action(
      inSession(z.strictObject({ org: Org, email: KnownEmail }), async ({ db, config }, flags) => {
        const organisation = await resolveOrganisation(db, flags)
        const { org_id: orgId } = organisation
        const member = await requireMember(db, organisation, flags.email)
        const publicUrl = config.LOAM_PUBLIC_URL ?? serverAddress(config)
        const link = await createSignInLink(db, OPERATOR, { orgId, member, publicUrl })
        return { data: link, text: () => link.url }
      }),
    )
}
