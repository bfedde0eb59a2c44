import { z } from 'zod'
import { WireText } from '../../provider/wire-fields.ts'

const Job = z.object({
  title: WireText,
  name: WireText,
  company_name: WireText,
  company_website_domain: WireText,
  start_date: WireText,
  end_date: WireText,
})
export type Job = z.output<typeof Job>

/** A person as Crustdata returns one, from a search or a lookup. */
export const Profile = z.object({
  crustdata_person_id: z.union([z.string(), z.number()]).nullish(),
  basic_profile: z.object({
    name: z.string(),
    headline: WireText,
    current_title: WireText,
    summary: WireText,
    location: z.object({ full_location: WireText }).nullish(),
  }),
  experience: z
    .object({
      employment_details: z
        .object({ current: z.array(Job).nullish(), past: z.array(Job).nullish() })
        .nullish(),
    })
    .nullish(),
  social_handles: z
    .object({ professional_network_identifier: z.object({ profile_url: WireText }).nullish() })
    .nullish(),
})
export type Profile = z.output<typeof Profile>

/** Returns a person's present work: title, company and place. */
export function presentOf({ basic_profile, experience, social_handles }: Profile) {
  const now = experience?.employment_details?.current?.[0]
  return {
    full_name: basic_profile.name,
    title: now?.title ?? basic_profile.current_title ?? basic_profile.headline ?? null,
    company: now === undefined ? null : readEmployer(now),
    domain: now?.company_website_domain ?? null,
    linkedin_url: social_handles?.professional_network_identifier?.profile_url ?? null,
    location: basic_profile.location?.full_location ?? null,
  }
}

/** Returns the name of an employer. Searches and records have it in different fields. */
export function readEmployer({ name, company_name }: Job): string | null {
  return name ?? company_name ?? null
}

/** Crustdata's words for levels of seniority. */
export const LEVELS: Readonly<Record<string, string>> = {
  owner: 'Owner / Partner',
  founder: 'Owner / Partner',
  partner: 'Owner / Partner',
  c_suite: 'CXO',
  vp: 'Vice President',
  head: 'Director',
  director: 'Director',
  manager: 'Experienced Manager',
  senior: 'Senior',
  entry: 'Entry Level',
  intern: 'In Training',
}

/** The path of the fields that describe a person's present work. */
export const CURRENT_JOB = 'experience.employment_details.current'
