type Known = { full_name: string; domain: string; linkedin_url: string; email?: string }

/** Returns the known details of a person, as Prospeo receives them. */
export function dataOf({ full_name, domain, linkedin_url, email = '' }: Known): Record<string, string> {
  return {
    ...(full_name === '' ? {} : { full_name }),
    ...(domain === '' ? {} : { company_website: domain }),
    ...(linkedin_url === '' ? {} : { linkedin_url }),
    ...(email === '' ? {} : { email }),
  }
}
