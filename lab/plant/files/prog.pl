use strict; use warnings; use List::Util qw(sum max); use Digest::MD5 qw(md5_hex);
my %h; $h{$_ % 17} += $_ for 1 .. 5000;
print join(",", map {"$_=$h{$_}"} sort { $a <=> $b } keys %h), "\n";
my $t = "abc" x 1000; my $n = () = $t =~ /b(?=c)/g; print "$n ", md5_hex($t), "\n";
print sum(map { $_ * $_ } 1 .. 100), " ", max(3, 9, 2), "\n";
my @s = sort { $b->[1] <=> $a->[1] || $a->[0] <=> $b->[0] } map { [$_, $_ * 7 % 13] } 1 .. 20;
printf "%s:%d ", @$_ for @s; print "\n";
my $out = `echo from a child`; print $out; eval { die "thrown\n" }; print "caught $@"; exit 4;
