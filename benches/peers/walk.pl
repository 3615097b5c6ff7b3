# Hashes, sorting, regular expressions, recursion in Perl. walk.pl SECONDS
use strict;
use warnings;
no warnings 'recursion';

sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }

my $end = time + $ARGV[0];
while (time < $end) {
    fib(14);
    my %of = map { $_ => join('-', reverse split(//, $_ * 7919)) } 1 .. 2000;
    my @sorted = sort { $of{$a} cmp $of{$b} } keys %of;
    my $hits = () = join(',', @of{@sorted}) =~ /(\d-)+9/g;
}
