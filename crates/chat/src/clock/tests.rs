use super::*;

fn check(unix_seconds: i64, utc_offset_seconds: i32, format: &str, expected: &str) {
    assert_eq!(strftime(Now { unix_seconds, utc_offset_seconds }, format), expected);
}

// Expected values are Python's `datetime.strftime`.
#[test]
fn directives() {
    let format = "%Y %y %m %d %e %j %H %I %M %S %p %A %a %B %b %w %u %z %Z %% %-d %-m %F %T %R %D";
    check(
        1_741_097_167,
        3600,
        format,
        "2025 25 03 04  4 063 15 03 06 07 PM Tuesday Tue March Mar 2 2 +0100 UTC+01:00 % 4 3 \
         2025-03-04 15:06:07 15:06 03/04/25",
    );
    check(0, 0, "%c %Z", "Thu Jan  1 00:00:00 1970 UTC");
    check(0, -19_800, "%F %T %z", "1969-12-31 18:30:00 -0530");
    check(0, 0, "%-e %-j %-I %-M", "1 1 12 0");
    check(0, 0, "%q %", "%q %");
}

#[test]
fn calendar_edges() {
    check(951_782_400, 0, "%F %j %A", "2000-02-29 060 Tuesday");
    check(951_868_800, 0, "%F %j", "2000-03-01 061");
    check(4_107_542_400, 0, "%F %j", "2100-03-01 060");
    check(1_735_689_599, 0, "%F %j %I%p", "2024-12-31 366 11PM");
    check(-2_208_988_800, 0, "%F %a", "1900-01-01 Mon");
    check(-1, 0, "%F %T", "1969-12-31 23:59:59");
}

#[test]
fn times_at_the_end_of_the_range() {
    assert!(!strftime(Now { unix_seconds: i64::MAX, utc_offset_seconds: 1 }, "%c").is_empty());
    assert!(!strftime(Now { unix_seconds: i64::MIN, utc_offset_seconds: -1 }, "%c").is_empty());
}
