import { z } from 'zod'
import { type Found, hit, MISS, type QuestionKind } from '../provider/adapter.ts'

/** The person whose profile is wanted. Unknown parts are empty. */
export type ProfileQuestion = { email: string; full_name: string; domain: string }
export type FoundProfile = { linkedin_url: string }

/** The profile of a person, not of a company, in one spelling. */
const Profile = z.string().transform((text, context) => {
  const [, slug] = /^(?:https?:\/\/)?(?:[a-z]{2,3}\.)?linkedin\.com\/in\/([^/?#\s]+)/i.exec(text.trim()) ?? []
  if (slug !== undefined) return `https://www.linkedin.com/in/${slug}`
  context.addIssue('must be the address of a profile')
  return z.NEVER
})

export const linkedinUrl: QuestionKind<ProfileQuestion, FoundProfile> = {
  result: z.object({ linkedin_url: Profile }),
}

export const hasEmail = ({ email }: ProfileQuestion): boolean => email !== ''

/** Returns true if there is an email address, or a name and a company. */
export const isNamed = ({ email, full_name, domain }: ProfileQuestion): boolean =>
  email !== '' || (full_name !== '' && domain !== '')

export function tellProfile(address: string | null | undefined): Found<FoundProfile> {
  return address ? hit({ linkedin_url: address }) : MISS
}
