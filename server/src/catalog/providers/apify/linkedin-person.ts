import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { linkedinPerson } from '../../questions/linkedin-person.ts'
import { runActor } from './actor.ts'
import { apify } from './provider.ts'

const ACTOR = 'harvestapi~linkedin-profile-scraper'
const MODE = 'Profile details no email ($4 per 1k)'
const When = z.object({ text: WireText }).nullish()
const Profile = z.object({
  firstName: WireText,
  lastName: WireText,
  headline: WireText,
  about: WireText,
  linkedinUrl: WireText,
  connectionsCount: WireNumber,
  location: z.object({ linkedinText: WireText }).nullish(),
  experience: z
    .array(z.object({ position: WireText, companyName: WireText, startDate: When, endDate: When }))
    .nullish(),
  education: z
    .array(z.object({ schoolName: WireText, degree: WireText, startDate: When, endDate: When }))
    .nullish(),
})

export const apifyLinkedinPerson = defineAdapter(linkedinPerson, apify, {
  price: 1,
  run: (ask, { linkedin_url }) => {
    const request = runActor(ACTOR, { queries: [linkedin_url], profileScraperMode: MODE })
    return ask(request, z.array(Profile), ([profile]) => {
      const full_name = [profile?.firstName, profile?.lastName].filter((part) => part).join(' ')
      if (profile === undefined || full_name === '') return MISS
      const experiences = (profile.experience ?? []).map(({ position, companyName, startDate, endDate }) => ({
        title: position ?? null,
        company: companyName ?? null,
        start: startDate?.text ?? null,
        end: endDate?.text ?? null,
        current: /^present$/i.test(endDate?.text ?? 'present'),
      }))
      const now = experiences.find(({ current }) => current)
      return hit({
        full_name,
        title: now?.title ?? profile.headline ?? null,
        company: now?.company ?? null,
        location: profile.location?.linkedinText ?? null,
        linkedin_url: profile.linkedinUrl ?? linkedin_url,
        headline: profile.headline ?? null,
        about: profile.about ?? null,
        connections: profile.connectionsCount ?? null,
        experiences,
        education: (profile.education ?? []).map(({ schoolName, degree, startDate, endDate }) => ({
          school: schoolName ?? null,
          degree: degree ?? null,
          start: startDate?.text ?? null,
          end: endDate?.text ?? null,
        })),
      })
    })
  },
})
